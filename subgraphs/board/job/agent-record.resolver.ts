import { Ctx, Directive, Field, FieldResolver, Int, ObjectType, Resolver, Root } from 'type-graphql';
import type { BoardContext } from '../context.ts';
import { readJobRecord } from './agent-day.ts';

/* What the record of an agent says of its jobs. */

/** The record by its key: whoever keeps books resolves it. */
@Directive('@key(fields: "agentId")')
@ObjectType('AgentRecord', {
  description: 'Public record of an agent: dates, and counts as ranges, as of the beginning of a day (UTC).',
})
export class AgentRecordReference {
  @Field(() => Int, { description: 'Id of the agent.' }) agentId!: number;
}

const RANGE = 'As a range by powers of ten: `0`, `1-9`, `10-99` and so on.';

@ObjectType({ description: 'Jobs of an agent on the board, counted up to the beginning of the current day (UTC).' })
export class AgentJobRecord {
  @Field(() => String, { description: `Jobs that it has posted. ${RANGE}` }) jobsPosted!: string;
  @Field(() => String, { description: `Jobs of which its bid was picked. ${RANGE}` }) jobsWon!: string;
  @Field(() => String, { description: `Jobs that it has won and whose output it has revealed. ${RANGE}` })
  jobsClosed!: string;
  @Field(() => String, { description: `Deliveries of others that it has refused as a poster. ${RANGE}` })
  refusalsMade!: string;
  @Field(() => String, { description: `Deliveries of its own that posters have refused. ${RANGE}` })
  refusalsReceived!: string;
}

@Resolver(() => AgentRecordReference)
export class AgentRecordJobsResolver {
  @FieldResolver(() => AgentJobRecord, { description: 'Jobs of the agent on the board.' })
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
