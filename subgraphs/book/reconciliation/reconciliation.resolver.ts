import { Arg, Args, Ctx, Mutation, Query, Resolver } from 'type-graphql';
import { ReconciliationNoun } from '../../../schema/book/reconciliation.ts';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import { BookPath } from '../../../schema/requests/book-path.ts';
import { ReconciliationPath, ReconciliationRequest } from '../../../schema/requests/reconciliation.ts';
import { requirePossession } from '../../access.ts';
import {
  type Arguments,
  type ArgumentsOfBook,
  argumentsType,
  givenMembers,
  inputType,
  objectType,
  readRequest,
} from '../../graph-type.ts';
import type { BookContext } from '../context.ts';
import { soundHead } from '../page/page.ts';
import { reconciliationOf } from './find.ts';
import type { StoredReconciliation } from './reconciliation.entity.ts';
import { startReconciliation } from './start.ts';

const ReconciliationInput = inputType(
  'ReconciliationInput',
  'Reconciliation to start: the wallet, the range of blocks on Base, and the proof of the wallet.',
  ReconciliationRequest,
);

const Reconciliation = objectType(
  'Reconciliation',
  'Reconciliation of a wallet: a report that classifies each USDC transfer from the wallet, made block by block.',
  ReconciliationNoun,
);
type Reconciliation = InstanceType<typeof Reconciliation>;

function shownReconciliation(stored: StoredReconciliation): Reconciliation {
  const { fromBlock, toBlock, nextBlock, document, provenBy, transfers, ...rest } = stored;
  return {
    reportId: rest.reportId,
    agentId: rest.agentId,
    wallet: rest.wallet,
    walletProvenBy: provenBy,
    fromBlock,
    toBlock,
    state: rest.state,
    reason: rest.reason,
    blocksDone: nextBlock - fromBlock,
    blocksTotal: toBlock - fromBlock + 1,
    transfersFound: transfers,
    askedAt: rest.askedAt,
    endedAt: rest.endedAt,
    report: document === null ? null : (JSON.parse(document) as JsonObject),
  };
}

const BookArguments = argumentsType(BookPath);
const ReportArguments = argumentsType(BookPath, ReconciliationPath);

/** GraphQL fields of reconciliations. They require possession of the agent, and starting one also requires proof of the wallet. */
@Resolver(() => Reconciliation)
export class ReconciliationResolver {
  @Mutation(() => Reconciliation, {
    nullable: true,
    description:
      'Starts a report of all USDC that a wallet sent on Base in a range of blocks; `reconciliation` shows its progress. Requires possession of the book and, for a wallet other than that of the agent, its signature. Null if there is an error.',
  })
  async startReconciliation(
    @Arg('input', () => ReconciliationInput, {
      description: 'The wallet, the range of blocks and the proof of the wallet.',
    })
    input: Arguments,
    @Args(() => BookArguments) { agentId }: ArgumentsOfBook,
    @Ctx() context: BookContext,
  ): Promise<Reconciliation> {
    const agent_id = requirePossession(context.principal, agentId);
    const request = readRequest(ReconciliationRequest, input, context);
    return shownReconciliation(await startReconciliation(context, agent_id, request));
  }

  @Query(() => Reconciliation, {
    nullable: true,
    description:
      'A reconciliation: its signed report, or how far it has come. Requires possession of the book. Null if the book has none with this id, or if there is an error.',
  })
  async reconciliation(
    @Args(() => ReportArguments) args: ArgumentsOfBook,
    @Ctx() { principal, database }: BookContext,
  ): Promise<Reconciliation | null> {
    const agent_id = requirePossession(principal, args.agentId);
    await soundHead(database, agent_id);
    const found = await reconciliationOf(database, agent_id, givenMembers(ReconciliationPath, args).report_id);
    return found && shownReconciliation(found);
  }
}
