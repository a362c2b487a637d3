import { Args, Ctx, Query, Resolver } from 'type-graphql';
import { RecordRequest } from '../../../schema/requests/book.ts';
import { BookPath } from '../../../schema/requests/book-path.ts';
import { requirePossession } from '../../access.ts';
import { type ArgumentsOfBook, argumentsType, givenMembers } from '../../graph-type.ts';
import { resultUnlessHalted } from '../../receipt/log/halt-guard.ts';
import type { BookContext } from '../context.ts';
import { readHistory, readRecord } from './read.ts';
import { AgentRecord } from './record.type.ts';

const RecordArguments = argumentsType(BookPath, RecordRequest);

@Resolver(() => AgentRecord)
export class AgentRecordResolver {
  @Query(() => AgentRecord, {
    nullable: true,
    description: 'Public record of an agent. Null if no agent has this id, or if there is an error.',
  })
  async agentRecord(
    @Args(() => RecordArguments) args: ArgumentsOfBook,
    @Ctx() { principal, database }: BookContext,
  ): Promise<AgentRecord | null> {
    const { opt_in } = givenMembers(RecordRequest, args);
    if (!opt_in) return resultUnlessHalted(database, await readRecord(database, args.agentId));
    const agent_id = requirePossession(principal, args.agentId);
    const [record, offBoard] = await Promise.all([readRecord(database, agent_id), readHistory(database, agent_id)]);
    return record && { ...record, offBoard };
  }
}
