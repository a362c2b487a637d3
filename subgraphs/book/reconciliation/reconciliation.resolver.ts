import { Arg, Ctx, Int, Mutation, Query, Resolver } from 'type-graphql';
import { toSnakeKeys, withoutNull } from '../../../schema/camel.ts';
import { parseRequest } from '../../../schema/requests/parse.ts';
import { ReconciliationMembers } from '../../../schema/requests/reconciliation.ts';
import { requirePossession } from '../../access.ts';
import type { BookContext } from '../context.ts';
import { soundHead } from '../page/page.ts';
import { reconciliationOf } from './find.ts';
import { Reconciliation, ReconciliationInput, shownReconciliation } from './reconciliation.type.ts';
import { startReconciliation } from './start.ts';

/** What a wallet of an agent paid, and what of that has a receipt, for whoever possesses the agent and proves the wallet. */
@Resolver(() => Reconciliation)
export class ReconciliationResolver {
  @Mutation(() => Reconciliation, {
    nullable: true,
    description: 'Asks for a report of all USDC that a wallet sent between two blocks; it is made block by block.',
  })
  async startReconciliation(
    @Arg('agentId', () => Int, { description: 'Whose book.' }) agentId: number,
    @Arg('input', () => ReconciliationInput, { description: 'Which wallet and blocks.' }) input: ReconciliationInput,
    @Ctx() context: BookContext,
  ): Promise<Reconciliation> {
    const agent_id = requirePossession(context.principal, agentId);
    const asked = parseRequest(ReconciliationMembers, toSnakeKeys(withoutNull({ ...input })));
    return shownReconciliation(await startReconciliation(context, agent_id, asked));
  }

  @Query(() => Reconciliation, {
    nullable: true,
    description: 'A report, or how far it has come; null where the book has none of that id.',
  })
  async reconciliation(
    @Arg('agentId', () => Int, { description: 'Whose book.' }) agentId: number,
    @Arg('reportId', () => String, { description: 'Which one.' }) reportId: string,
    @Ctx() { principal, database }: BookContext,
  ): Promise<Reconciliation | null> {
    const agent_id = requirePossession(principal, agentId);
    await soundHead(database, agent_id);
    const found = await reconciliationOf(database, agent_id, reportId);
    return found && shownReconciliation(found);
  }
}
