import { Arg, Args, Ctx, Mutation, Query, Resolver } from 'type-graphql';
import { BookPath } from '../../../schema/requests/book-path.ts';
import { ReconciliationPath, ReconciliationRequest } from '../../../schema/requests/reconciliation.ts';
import { requirePossession } from '../../access.ts';
import { type Arguments, type ArgumentsOfBook, argumentsType, givenMembers, readRequest } from '../../graph-type.ts';
import type { BookContext } from '../context.ts';
import { soundHead } from '../page/page.ts';
import { reconciliationOf } from './find.ts';
import { Reconciliation, ReconciliationInput, shownReconciliation } from './reconciliation.type.ts';
import { startReconciliation } from './start.ts';

const BookArguments = argumentsType(BookPath);
const ReportArguments = argumentsType(BookPath, ReconciliationPath);

/** What a wallet of an agent paid, and what of that has a receipt, for whoever possesses the agent and proves the wallet. */
@Resolver(() => Reconciliation)
export class ReconciliationResolver {
  @Mutation(() => Reconciliation, {
    nullable: true,
    description: 'Asks for a report of all USDC that a wallet sent between two blocks; it is made block by block.',
  })
  async startReconciliation(
    @Arg('input', () => ReconciliationInput, { description: 'Which wallet and blocks.' }) input: Arguments,
    @Args(() => BookArguments) { agentId }: ArgumentsOfBook,
    @Ctx() context: BookContext,
  ): Promise<Reconciliation> {
    const agent_id = requirePossession(context.principal, agentId);
    const asked = readRequest(ReconciliationRequest, input, context);
    return shownReconciliation(await startReconciliation(context, agent_id, asked));
  }

  @Query(() => Reconciliation, {
    nullable: true,
    description: 'A reconciliation: its signed report, or how far it has come. Null if the book has none with this id.',
  })
  async reconciliation(
    @Args(() => ReportArguments) asked: ArgumentsOfBook,
    @Ctx() { principal, database }: BookContext,
  ): Promise<Reconciliation | null> {
    const agent_id = requirePossession(principal, asked.agentId);
    await soundHead(database, agent_id);
    const found = await reconciliationOf(database, agent_id, givenMembers(ReconciliationPath, asked).report_id);
    return found && shownReconciliation(found);
  }
}
