import { atomicAmount } from '../../../schema/amount.ts';
import { Refusal } from '../../../schema/errors.ts';
import { reactionLimits } from '../../../schema/limits.ts';
import type { CompletionRequest } from '../../../schema/requests/completion.ts';
import { requireForeign } from '../../book/ingest/find.ts';
import { asEntity } from '../../columns.ts';
import type { NamedTransfer, Observation } from '../../foreign-transfers.ts';
import { newTask } from '../../new-task.ts';
import { isOwnTransfer } from '../../receipt/receipt/own-transfer.ts';
import type { BoardContext } from '../context.ts';
import { takeBoardUse } from '../uses.ts';
import { BoardCompletion } from './completion.entity.ts';
import { isSameReport, readCompletions } from './store.ts';

export interface RecordedCompletion {
  readonly completion: BoardCompletion;
  /** Whether the same completion was recorded before. */
  readonly again: boolean;
}

type Recorder = Pick<
  BoardContext,
  'database' | 'clock' | 'random' | 'transfers' | 'treasuries' | 'payment_index' | 'completions' | 'named_write'
>;

/**
 * Records a completion once for its source and id. The chain is read first; a payment that the chain does not show is recorded as reported.
 * Nothing is written before the record, so a crash in between leaves nothing behind.
 * @throws completion_conflict, duplicate_ref, rate_limited; chain_unavailable, network_not_served, unavailable if the payment could not be
 * checked
 */
export async function recordCompletion(context: Recorder, request: CompletionRequest): Promise<RecordedCompletion> {
  const { database, clock, random, completions } = context;
  const { source, external_id: externalId } = request;
  const said = { ...request };
  const [standing] = await readCompletions(database, [{ source, externalId }]);
  if (standing) return existingCompletion(context, standing, { said });
  const named = transferNamed(request);
  requireForeign(named, context.treasuries);
  const { completions_per_hour_max: max } = reactionLimits;
  await takeBoardUse(database, {
    holder: 'inbound',
    max,
    detail: `At most ${max} new completions are accepted per hour. Try again later.`,
  });
  const seen = seenIn(await context.transfers.observe(named), named);
  if (seen.transfer !== null && (await isOwnTransfer(context, seen.transfer))) throw new Refusal('duplicate_ref');
  const completion = asEntity(BoardCompletion, {
    source,
    externalId,
    taskId: newTask({ clock, random }),
    said,
    ...seen,
    recordedAt: new Date(clock.now_ms()),
  });
  const outcome = await completions.record(completion, context.named_write ?? null);
  if (outcome.kind === 'transfer_taken') throw new Refusal('duplicate_ref');
  return outcome.kind === 'recorded'
    ? { completion, again: false }
    : existingCompletion(context, outcome.standing, { said });
}

async function existingCompletion(
  { completions }: Recorder,
  standing: BoardCompletion,
  asked: Pick<BoardCompletion, 'said'>,
): Promise<RecordedCompletion> {
  if (!isSameReport(standing, asked))
    throw new Refusal('completion_conflict', { param: 'external_id', facts: { task_id: standing.taskId } });
  await completions.requireSaved(standing.taskId);
  return { completion: standing, again: true };
}

function transferNamed({ network, transaction, payer, payee, amount }: CompletionRequest): NamedTransfer {
  return { network, transaction, index: null, payer, pay_to: payee, amount_atomic: atomicAmount(BigInt(amount)) };
}

/**
 * The transfer as the chain shows it, and its place there. Both are null if the chain does not show it. For a payment that the chain has
 * not confirmed yet, the request fails, and the next one checks it again.
 */
function seenIn(observation: Observation, { network }: NamedTransfer) {
  switch (observation.kind) {
    case 'observed':
      return { transfer: observation.transfer, seenIn: { ...observation.seen_in } };
    case 'not_believed':
      if (observation.reason === 'not_confirmed') throw new Refusal('chain_unavailable', { detail: NOT_DEEP_YET });
      return { transfer: null, seenIn: null };
    case 'unknown':
      throw new Refusal('chain_unavailable', { cause: observation.cause });
    case 'unsupported':
      throw new Refusal('network_not_served', { facts: { network } });
  }
}

const NOT_DEEP_YET =
  'The chain has not confirmed the payment yet. Nothing was recorded. Send the same request again later.';
