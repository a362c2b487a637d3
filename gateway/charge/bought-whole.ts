import type { JsonObject } from '../../schema/canonical-json.ts';
import { Refusal } from '../../schema/errors.ts';
import type { Context } from '../../subgraphs/context.ts';
import { type ClaimOutcome } from '../../subgraphs/receipt/claim/claim.ts';
import { receiptsByTask } from '../../subgraphs/receipt/receipt/find.ts';
import { type Receipt } from '../../subgraphs/receipt/receipt/receipt.entity.ts';
import type { Charged } from '../../subgraphs/sale.ts';
import { type AnyWhole, answerLabel, type Landing } from '../record/recorder.ts';
import { type Presented, refusedClaim } from './claim-request.ts';
import { workUntil } from './deadline.ts';
import { announce } from './payment-response.ts';
import { beginRerun, type Rerun, rerunFailed } from './rerun.ts';
import type { Till } from './till.ts';

export type Bought = Omit<Extract<ClaimOutcome, { kind: 'replayed' }>, 'kind'>;

/** What was paid for before, by the payment that came again, or by the first one under the same identifier. */
export interface BoughtBefore {
  readonly presented: Presented;
  readonly bought: Bought;
}

/** The same payment for the same request: the same signed bytes, a replay event, no second charge. */
export async function redeliver(
  till: Till,
  paid: AnyWhole,
  before: BoughtBefore,
  context: Context,
): Promise<Charged<JsonObject>> {
  const due = await dueTo(till, before, context);
  const answer = due.kind === 'kept' ? due.answer : await workAgain(till, paid, before.presented.args, due, context);
  return { answer, task_id: due.task_id, settlement_status: 'idempotent_replay', receipt: due.receipt };
}

async function workAgain(
  till: Till,
  paid: AnyWhole,
  args: JsonObject,
  { task_id, rerun }: Extract<Due, { kind: 'rerun' }>,
  context: Context,
): Promise<JsonObject> {
  try {
    if (paid.order !== 'work_then_settle') throw new Error(`${paid.field} is never worked for again`);
    const work = await paid.work(args, task_id, context, workUntil(till.clock.now_ms(), null));
    await rerun.keep(work);
    return work.answer;
  } catch (error) {
    await rerun.giveUp();
    throw rerunFailed(till, task_id, error);
  }
}

export type Due = Pick<Bought, 'task_id'> & { readonly receipt: Receipt } & (
    | { readonly kind: 'kept'; readonly answer: JsonObject }
    /** The money is here and no answer is: it is worked for once more, free, and by this call alone. */
    | { readonly kind: 'rerun'; readonly rerun: Rerun }
  );

/**
 * What a payment that came again is owed. Once it is settled a payment is public calldata: what was bought under a
 * session goes to that agent alone.
 */
export async function dueTo(till: Till, { presented, bought }: BoughtBefore, context: Context): Promise<Due> {
  const { task_id, landing } = bought;
  requirePossessor(landing as Landing, context);
  // This database has gone back: what it holds is handed out as it stands, and nothing is written into it.
  const written = till.log.halt === null;
  if (!written && bought.answer_box === null) throw rerunFailed(till, task_id, new Refusal('unavailable'));
  const found =
    bought.answer_box === null
      ? await beginRerun(till, presented.paid, bought.claim_key)
      : ({ kind: 'kept', answer_box: bought.answer_box } as const);
  if (found.kind === 'held') throw refusedClaim({ kind: 'in_flight', task_id }, presented.paid);
  try {
    if (written) await till.queues.replay.submit(task_id);
    if (found.kind === 'gone') {
      throw new Refusal('answer_gone', { facts: { verify_url: `${till.base_url}/receipt/${task_id}` } });
    }
    const [receipt] = await receiptsByTask(till.database, [task_id]);
    if (!receipt) throw new Error(`${task_id} is recorded and has no receipt`);
    const { payment } = presented;
    await announce(till, context, { payment, task_id, transaction: refOf(receipt).split(':')[1] ?? '', landing });
    if (found.kind === 'begun') return { kind: 'rerun', task_id, receipt, rerun: found.rerun };
    const answer = till.vault.open(found.answer_box, answerLabel(task_id)).toString('utf8');
    return { kind: 'kept', task_id, receipt, answer: JSON.parse(answer) as JsonObject };
  } catch (error) {
    if (found.kind === 'begun') await found.rerun.giveUp();
    throw error;
  }
}

/** Where the money was seen to come; until then, and where it was seen before the record, what was recorded. */
export function refOf({ ingressReceipt, paymentRef }: Receipt): string {
  return String(ingressReceipt?.ref ?? paymentRef ?? '');
}

function requirePossessor({ possessed_by }: Landing, { principal: { possession } }: Context): void {
  if (possessed_by === null) return;
  if (possession.kind === 'proven' && possession.agent_id === possessed_by) return;
  // The payment is spent, whoever shows it: who is told only that he may not might forget it and sign another.
  throw new Refusal('forbidden', { facts: { charged: true } });
}
