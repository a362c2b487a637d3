import { Arg, Ctx, Directive, Field, Mutation, ObjectType, Resolver } from 'type-graphql';
import { atomicAmount } from '../../../schema/amount.ts';
import { CompletionNoun, CompletionTransferNoun } from '../../../schema/board/completion.ts';
import { verifyUrl } from '../../../schema/links.ts';
import type { NetworkName } from '../../../schema/network.ts';
import { foreignRef, type ObservedTransfer } from '../../../schema/observed-transfer.ts';
import { CompletionRequest } from '../../../schema/requests/completion.ts';
import { type Arguments, inputType, membersOf, objectType, readRequest, showMembers } from '../../graph-type.ts';
import type { BoardContext } from '../context.ts';
import { requireBoardSecret } from '../shared-secret.ts';
import type { BoardCompletion } from './completion.entity.ts';
import { recordCompletion } from './record.ts';

/** A receipt by its key: whoever keeps receipts resolves it. Of its own, since what books add to theirs is not this subgraph's. */
@Directive('@key(fields: "taskId")')
@ObjectType('Receipt', { description: 'A signed spend receipt: one leaf of the append-only log.' })
class CitedReceipt {
  @Field(() => String, { description: 'The task that it is of.' }) taskId!: string;
}

/* How the graph takes a completion from elsewhere, and answers it: the mutation behind the endpoint of inbound completions. */

const CompletionInput = inputType('CompletionInput', 'What was completed elsewhere.', CompletionRequest);

objectType('CompletionTransfer', 'The payment of a completion, as its chain showed it.', CompletionTransferNoun);

@ObjectType({ description: 'What was completed elsewhere, as it was said and as far as its chain showed it.' })
class Completion extends membersOf(CompletionNoun) {
  @Field(() => CitedReceipt, { description: 'Its receipt: it signs what was said, and what of it was seen.' })
  receipt!: CitedReceipt;
  @Field(() => Boolean, { description: 'The same was recorded before.' }) idempotentReplay!: boolean;
}

showMembers(Completion, CompletionNoun);

@Resolver(() => Completion)
export class InboundResolver {
  @Mutation(() => Completion, {
    nullable: true,
    description:
      "Records what was completed elsewhere, with a receipt that signs it. For whoever shows the board's inbound secret. The same again is the same.",
  })
  async recordCompletion(
    @Arg('input', () => CompletionInput, { description: 'What, and by which payment.' }) input: Arguments,
    @Ctx() context: BoardContext,
  ): Promise<Completion> {
    requireBoardSecret(context.principal, 'inbound');
    const request = readRequest(CompletionRequest, input, context);
    const { completion, again } = await recordCompletion(context, request);
    return { ...shown(completion, context.base_url), idempotentReplay: again };
  }
}

function shown(completion: BoardCompletion, base_url: string): Omit<Completion, 'idempotentReplay'> {
  const { taskId, transfer, seenIn, recordedAt } = completion;
  const said = completion.said as unknown as CompletionRequest;
  return {
    taskId,
    source: said.source,
    externalId: said.external_id,
    network: said.network,
    payer: said.payer,
    payee: said.payee,
    amount: atomicAmount(BigInt(said.amount)),
    outputHash: said.output_hash,
    paymentRef: foreignRef(said),
    settledBy: transfer === null ? null : 'observed_transfer',
    evidence: transfer === null ? 'UNVERIFIED' : 'foreign_ingest',
    observedTransfer: transfer === null ? null : seenTransfer(transfer as ReportedTransfer, seenIn?.final === true),
    verifyUrl: verifyUrl(base_url, taskId),
    receipt: { taskId },
    recordedAt,
  };
}

/** Only payments on the networks of this service are reported. */
type ReportedTransfer = ObservedTransfer & { readonly network: NetworkName };

function seenTransfer(
  { amount, index, pay_to, ...seen }: ReportedTransfer,
  final: boolean,
): Completion['observedTransfer'] {
  const { network, transaction, asset, payer } = seen;
  const moved = { network, transaction, asset, payer, payTo: pay_to, final };
  return { ...moved, index: index ?? 0, amount: atomicAmount(BigInt(amount)) };
}
