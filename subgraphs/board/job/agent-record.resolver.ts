import { Ctx, FieldResolver, Resolver, Root } from 'type-graphql';
import { AgentRecordNoun, JobRecordNoun } from '../../../schema/book/agent-record.ts';
import { descriptionOptions, objectType, withKey } from '../../graph-type.ts';
import type { BoardContext } from '../context.ts';
import { readJobRecord } from './agent-day.ts';

/* The part of an agent's record that concerns its jobs. */

/** The agent's record, with its key only. The book subgraph resolves the other members. */
export const AgentRecordReference = withKey(
  objectType(
    'AgentRecord',
    'Public record of an agent: dates, and counts as ranges, as of the beginning of a day (UTC).',
    AgentRecordNoun.pick({ agent_id: true }),
  ),
  'agentId',
);
export type AgentRecordReference = InstanceType<typeof AgentRecordReference>;

const AgentJobRecord = objectType(
  'AgentJobRecord',
  'Jobs of an agent on the board, counted up to the beginning of the current day (UTC).',
  JobRecordNoun,
);
type AgentJobRecord = InstanceType<typeof AgentJobRecord>;

@Resolver(() => AgentRecordReference)
export class AgentRecordJobsResolver {
  @FieldResolver(() => AgentJobRecord, descriptionOptions(AgentRecordNoun.shape.jobs))
  async jobs(@Root() { agentId }: AgentRecordReference, @Ctx() { database }: BoardContext): Promise<AgentJobRecord> {
    const record = await readJobRecord(database, agentId);
    return {
      jobsPosted: record.jobs_posted,
      jobsWon: record.jobs_won,
      jobsClosed: record.jobs_closed,
      refusalsMade: record.refusals_made,
      refusalsReceived: record.refusals_received,
    };
  }
}
