import { Arg, Ctx, Int, Query, Resolver } from 'type-graphql';
import { requirePossession } from '../../access.ts';
import { foundUnlessHalted } from '../../receipt/log/while-halted.ts';
import type { BookContext } from '../context.ts';
import { readHistory, readRecord } from './read.ts';
import { AgentRecord } from './record.type.ts';

@Resolver(() => AgentRecord)
export class AgentRecordResolver {
  @Query(() => AgentRecord, {
    nullable: true,
    description: 'The public record of an agent, for anybody; null where there is none.',
  })
  async agentRecord(
    @Arg('agentId', () => Int, { description: 'Id of the agent.' }) agentId: number,
    @Arg('optIn', () => Boolean, {
      nullable: true,
      description: 'Its off-board history too, for whoever possesses its book.',
    })
    optIn: boolean | null,
    @Ctx() { principal, database }: BookContext,
  ): Promise<AgentRecord | null> {
    if (!optIn) return foundUnlessHalted(database, await readRecord(database, agentId));
    const agent_id = requirePossession(principal, agentId);
    const [record, offBoard] = await Promise.all([readRecord(database, agent_id), readHistory(database, agent_id)]);
    return record && { ...record, offBoard };
  }
}
