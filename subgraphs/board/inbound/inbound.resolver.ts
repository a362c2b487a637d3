import { Arg, Ctx, Mutation, Resolver } from 'type-graphql';
import {
  CompletionNoun,
  CompletionOnGraph,
  CompletionReceiptNoun,
  CompletionTransferNoun,
} from '../../../schema/board/completion.ts';
import { verifyUrl } from '../../../schema/links.ts';
import { foreignRef, type ObservedTransfer } from '../../../schema/observed-transfer.ts';
import { CompletionRequest } from '../../../schema/requests/completion.ts';
import { type Arguments, inputType, objectType, readRequest, shownOf, withKey } from '../../graph-type.ts';
import type { BoardContext } from '../context.ts';
import { requireBoardSecret } from '../shared-secret.ts';
import type { BoardCompletion } from './completion.entity.ts';
import { recordCompletion } from './record.ts';

/* The mutation behind the endpoint of inbound completions, and its result. */

const CompletionInput = inputType(
  'CompletionInput',
  'Report of work that was completed on another board or service.',
  CompletionRequest,
);

objectType('CompletionTransfer', 'Payment of a completion, as the chain showed it.', CompletionTransferNoun);

withKey(
  objectType('Receipt', 'A signed spend receipt: one leaf of the append-only log.', CompletionReceiptNoun),
  'taskId',
);
const Completion = objectType(
  'Completion',
  'Work that was completed on another board or service: the report and, if the chain showed it, the payment.',
  CompletionNoun,
  CompletionOnGraph,
);
type Completion = InstanceType<typeof Completion>;

@Resolver(() => Completion)
export class InboundResolver {
  @Mutation(() => Completion, {
    nullable: true,
    description:
      'Records a completion that another board or service reports, and signs a receipt of it. Requires the inbound secret of the board in the header X-SVC-Board-Inbound. Sending the same completion again returns the existing record. Null only on error.',
  })
  async recordCompletion(
    @Arg('input', () => CompletionInput, { description: 'The completion and its payment, as reported.' })
    input: Arguments,
    @Ctx() context: BoardContext,
  ): Promise<Completion> {
    requireBoardSecret(context.principal, 'inbound');
    const request = readRequest(CompletionRequest, input, context);
    const { completion, again } = await recordCompletion(context, request);
    return { ...shownCompletion(completion, context.base_url), idempotentReplay: again };
  }
}

/** A transfer on one of the networks that a completion can name. */
type KeptTransfer = ObservedTransfer & Pick<CompletionRequest, 'network'>;

function shownCompletion(completion: BoardCompletion, base_url: string): Omit<Completion, 'idempotentReplay'> {
  const { taskId, seenIn, recordedAt } = completion;
  const transfer = completion.transfer as KeptTransfer | null;
  const said = completion.said as unknown as CompletionRequest;
  const shown = shownOf(CompletionNoun, {
    ...said,
    task_id: taskId,
    payment_ref: foreignRef(said),
    settled_by: transfer === null ? null : 'observed_transfer',
    evidence: transfer === null ? 'UNVERIFIED' : 'foreign_ingest',
    observed_transfer: transfer && { ...transfer, index: transfer.index ?? 0, final: seenIn?.final === true },
    verify_url: verifyUrl(base_url, taskId),
    recorded_at: recordedAt,
  });
  return { ...shown, receipt: { taskId } };
}
