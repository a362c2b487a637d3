import { type JsonObject } from '../../schema/canonical-json.ts';
import { Refusal } from '../../schema/errors.ts';
import { type TaskId } from '../../schema/ids.ts';
import { limits } from '../../schema/limits.ts';
import { verifyUrl } from '../../schema/links.ts';
import { type AnsweredAgain } from '../../schema/receipt-shapes.ts';
import { type AnswerEnd, WHOLE } from '../../subgraphs/answer-end.ts';
import { correct } from '../../subgraphs/book/ledger/correct.ts';
import { allowedModels } from '../../subgraphs/book/policy/allowed-models.ts';
import { isStopped } from '../../subgraphs/book/policy/kill-switch.ts';
import { iso } from '../../subgraphs/clock.ts';
import { type Context } from '../../subgraphs/context.ts';
import {
  answerLabel,
  dropRerun,
  isResendOpen,
  keepRerun,
  keptAnswer,
  type LostRerun,
  type RerunHold,
  renewRerun,
  takeRerun,
} from '../../subgraphs/receipt/claim/rerun.ts';
import { HubFailed } from '../../subgraphs/receipt/inference/hub-failed.ts';
import { receiptsByTask } from '../../subgraphs/receipt/receipt/find.ts';
import { type Receipt } from '../../subgraphs/receipt/receipt/receipt.entity.ts';
import { setAnsweredAgain } from '../../subgraphs/receipt/receipt/unsigned-facts.ts';
import { type AnyPaid, type Route, type Work } from '../../subgraphs/sale.ts';
import { type Tx } from '../../subgraphs/transaction.ts';
import { type Vault } from '../../subgraphs/vault.ts';
import { modelsUnder } from './grants.ts';
import { type HaltedLog } from './ground.ts';
import { type CallParts } from './parts.ts';
import { isFound, type Landing } from './record/facts.ts';
import { type Respond } from './respond.ts';
import { announce } from './response-headers.ts';
import { sealAnswer } from './settle.ts';
import { type Bought, type Held, type Kept, type Presented, type Settled } from './states.ts';
import { workUntil } from './work-time.ts';

type ReplayParts = RerunParts & Pick<CallParts, 'vault' | 'queues' | 'issuer' | 'base_url' | 'failures' | 'respond'>;

/**
 * Delivers a former purchase: the same payment for the same request gets the same signed bytes and a replay event, without a second charge.
 * If the money came without an answer, only this call does the work again, free of charge. A settled payment is public calldata, so a call
 * that was bought under a session is delivered to that agent only.
 */
export async function redeliver(
  parts: ReplayParts,
  { presented, before }: Bought,
  context: Context,
): Promise<Held | Kept> {
  const { database, vault, log, base_url, respond } = parts;
  const { task_id, landing, answered, claim_key } = before;
  context.response.stopwatch.begin('replay');
  requirePossessor(respond, landing as Landing, context);
  // The database was restored to an older state: its content is delivered as it is, and nothing is written.
  if (log.halt && !answered) throw stillOwed(parts, task_id, new Refusal('unavailable'));
  // A stored answer is delivered in spite of the kill switch, which stops new work only. The refusal promises a later answer, so it is used
  // only while one can follow.
  const stopped = !answered && (await isStopped(database, task_id));
  if (stopped && presented.paid.order !== 'stamp' && (await isResendOpen(database, claim_key)))
    throw respond({ kind: 'kill_switch_resend', task_id, verify_url: verifyUrl(base_url, task_id) });
  if (!answered) requireRestedHubs(parts, presented, task_id, context);
  const found = answered ? ({ kind: 'kept' } as const) : await beginRerun(parts, presented.paid, claim_key);
  if (found.kind === 'held') throw respond({ kind: 'in_flight', task_id });
  try {
    const kept = found.kind === 'kept' ? await keptAnswer(database, claim_key) : null;
    const brought = found.kind === 'begun' ? found : kept;
    if (!log.halt) await parts.queues.replay.submit(task_id);
    if (brought === null) throw respond({ kind: 'answer_gone', verify_url: verifyUrl(base_url, task_id) });
    const [receipt] = await receiptsByTask(database, [task_id]);
    if (!receipt) throw new Error(`${task_id} is recorded and has no receipt`);
    const payment_ref = refOf(receipt);
    const { payment } = presented;
    const transaction = payment_ref.split(':')[1] ?? '';
    announce(parts, context, { payment, task_id, transaction, transfer_index: indexOf(receipt), landing });
    if ('kind' in brought) return await heldAgain(parts, brought, presented, { task_id, receipt });
    const answer = JSON.parse(vault.open(brought, answerLabel(task_id)).toString('utf8')) as JsonObject;
    const { rerun = null } = receipt.answeredAgain ?? {};
    const settlement_status = 'idempotent_replay' as const;
    const charged = { answer, task_id, settlement_status, receipt, reruns_left: 0, rerun };
    return { kind: 'kept', charged, payment_ref };
  } catch (error) {
    if (found.kind === 'begun') await found.giveUp();
    throw error;
  }
}

/**
 * Holds a call whose work is done again. Its money has moved long ago, so the answer waits for no payment, and all of it counts as one
 * step, the replay. The model must be allowed by the book now, and by the grant if there is one.
 */
async function heldAgain(
  parts: ReplayParts,
  rerun: Rerun,
  { args, call, delegation, payer, address_mark }: Presented,
  { task_id, receipt }: { readonly task_id: TaskId; readonly receipt: Receipt },
): Promise<Held> {
  const by_book = await allowedModels(parts.database, receipt.agentId);
  const allowed_models = modelsUnder({ under: delegation && { shown: delegation }, call }, by_book);
  const lost: Readonly<Record<LostRerun, Refusal>> = {
    elsewhere: parts.respond({ kind: 'in_flight', task_id }),
    closed: parts.respond({ kind: 'answer_gone', verify_url: verifyUrl(parts.base_url, task_id) }),
  };
  const record: Settled['record'] = async work => {
    if (work === null || isFound(work)) throw new Error(`${task_id}: a stamp is never worked for again`);
    const { kept, left: reruns_left, answered_again } = await rerun.keep(work);
    // If another process has answered meanwhile, its answer is stored, and the one of this process is equally valid.
    if (kept === 'closed') throw lost.closed;
    receipt.answeredAgain = answered_again;
    const { answer } = work;
    const settlement_status = 'idempotent_replay' as const;
    return { answer, task_id, settlement_status, receipt, reruns_left, rerun: rerun.number };
  };
  return {
    kind: 'held',
    task_id,
    args,
    payer: null,
    status: 'idempotent_replay',
    rerun: rerun.number,
    bounds: { until_ms: workUntil(parts.clock.now_ms(), null), allowed_models },
    steps: { begin: () => {} },
    async settle() {
      const held = await rerun.holdOn();
      if (held !== 'held') throw lost[held];
      return { payment_ref: refOf(receipt), announce: () => {}, record };
    },
    async abandon(error) {
      await rerun.giveUp();
      const told = Object.values(lost).find(refusal => refusal === error);
      if (error instanceof HubFailed) parts.failures.failedAtHub(error, payer.wallet, address_mark);
      return told ?? stillOwed(parts, task_id, error);
    },
  };
}

/**
 * Refuses callers who must wait because hubs refused their requests, as with new payments (RATE_UNCHARGED): each resend calls a hub free of
 * charge.
 */
function requireRestedHubs(
  parts: ReplayParts,
  { payer, address_mark, router_key_mark }: Presented,
  task_id: TaskId,
  { response }: Context,
): void {
  const rest = parts.failures.restOfOwed(payer.wallet, address_mark, router_key_mark !== null);
  if (rest === null) return;
  Object.assign(response.headers, rest.headers);
  throw stillOwed(parts, task_id, new Refusal('rate_limited', { facts: { retry_after_seconds: rest.seconds } }));
}

/** The refusal of a call that broke off this time and had been paid for before. It does not state that nothing was charged. */
function stillOwed({ respond, base_url }: Pick<ReplayParts, 'respond' | 'base_url'>, task_id: TaskId, error: unknown) {
  const refusal = error instanceof Refusal ? error : new Refusal('internal', { cause: error });
  const final = error instanceof HubFailed && error.by_caller === 'request';
  return respond({ kind: 'still_owed', refusal, final, task_id, verify_url: verifyUrl(base_url, task_id) }, error);
}

/** Reference of the transfer that was seen. The recorded reference if none was seen since the record. */
function refOf({ ingressReceipt, paymentRef }: Receipt): string {
  return String(ingressReceipt?.ref ?? paymentRef ?? '');
}

/**
 * Index of the transfer in the signed receipt. Null if the transfer had not been seen by then, even if it was seen later: the row shows
 * which transfer it was.
 */
function indexOf({ payload, ingressReceipt }: Receipt): number | null {
  if (ingressReceipt !== null) return null;
  const { payment } = JSON.parse(payload) as { readonly payment?: { readonly transfer_index?: number | null } | null };
  return payment?.transfer_index ?? null;
}

function requirePossessor(respond: Respond, { possessed_by }: Landing, { principal: { possession } }: Context): void {
  if (possessed_by === null) return;
  if (possession.kind === 'proven' && possession.agent_id === possessed_by) return;
  throw respond({ kind: 'not_possessor' });
}

type RerunParts = HaltedLog &
  Pick<CallParts, 'database' | 'owner' | 'later' | 'clock'> & { readonly vault: Pick<Vault, 'seal'> };

/**
 * Work that is done again for a payment without a whole answer: the hub broke off, the process died in a stream, or somebody else submitted
 * the payment after its release. It is free of charge, and done by one process at a time.
 */
interface Rerun {
  readonly kind: 'begun';
  /** Number of the payment's rerun, from 1. A rerun that this service ended early is not counted. */
  readonly number: number;
  /** Checks before anything is sent whether this process still holds the payment. */
  holdOn(): Promise<'held' | LostRerun>;
  /** Stores the answer for redelivery if no better one can follow. If the answer is whole, the row is corrected. */
  keep(work: Work<JsonObject>): Promise<EndedRerun>;
  /**
   * Ends the hold, so that the next resend may try. Never throws: a hold that cannot be dropped now is dropped once the database is
   * reachable.
   */
  giveUp(): Promise<void>;
}

interface EndedRerun {
  /** Result of storing the answer. Null if nothing was to be stored. */
  readonly kept: 'kept' | LostRerun | null;
  /** How many more reruns the payment has. */
  readonly left: number;
  /** What the receipt shows of the rerun from now on. Null if the answer is not whole. */
  readonly answered_again: AnsweredAgain | null;
}

type RerunStart =
  | Rerun
  /** Another process has stored an answer. */
  | { readonly kind: 'kept' }
  | { readonly kind: 'held' }
  | { readonly kind: 'gone' };

export async function beginRerun(parts: RerunParts, { order }: AnyPaid, claim_key: string): Promise<RerunStart> {
  // A stamp takes effect once and is never repeated.
  if (order === 'stamp') return { kind: 'gone' };
  const hold = { claim_key, owner: parts.owner };
  const taken = await parts.database.transaction(tx => takeRerun(tx, hold));
  return taken.kind === 'taken' ? rerunOf(parts, hold, taken) : taken;
}

/**
 * Number of reruns that remain after an answer that broke off. `spent` is the number of reruns so far, including this one. An answer that
 * was ended by a limit of this service or by the request itself would end in the same way again, so it has none.
 */
export function rerunsLeft(end: AnswerEnd, spent: number): number {
  const may_rerun = end.kind === 'broke_off' && (end.by === 'hub' || end.by === 'stop');
  return may_rerun ? Math.max(0, limits.reruns_max - spent) : 0;
}

function rerunOf(
  { database, vault, later, log, clock }: RerunParts,
  hold: RerunHold,
  { task_id, reruns }: { readonly task_id: TaskId; readonly reruns: number },
): Rerun {
  const number = reruns + 1;
  const drop = (counts: boolean) => {
    const dropped = async () => {
      if (log.halt === null) await database.transaction(tx => dropRerun(tx, hold, counts));
    };
    return dropped().catch(() => later.add(dropped));
  };
  // The log may be halted during the work.
  const writing = <T>(work: (tx: Tx) => Promise<T>): Promise<T> =>
    database.transaction(async tx => {
      const done = await work(tx);
      if (log.halt !== null) throw new Refusal('unavailable');
      return done;
    });
  const keepIn = (tx: Tx, answer: JsonObject) => keepRerun(tx, hold, sealAnswer(vault, task_id, answer));
  return {
    kind: 'begun',
    number,
    giveUp: async () => drop(false),
    holdOn: () => writing(tx => renewRerun(tx, hold)),
    async keep({ answer, route, output_sha256, end = WHOLE }) {
      if (end.kind === 'broke_off') {
        const counts = end.by !== 'stop';
        const left = rerunsLeft(end, counts ? number : reruns);
        const kept = left > 0 ? null : await writing(tx => keepIn(tx, answer));
        if (left > 0) await drop(counts);
        return { kept, left, answered_again: null };
      }
      const brought = { output_sha256, ...answererOf(route) };
      const answered_again = { at: iso(clock.now_ms()), rerun: number, ...brought };
      const kept = await writing(async tx => {
        const done = await keepIn(tx, answer);
        if (done !== 'kept') return done;
        await correct(tx, [{ task_id, body: { reason: 'answered_on_resend', ...brought } }]);
        setAnsweredAgain(tx, task_id, answered_again);
        return done;
      });
      return { kept, left: 0, answered_again: kept === 'kept' ? answered_again : null };
    },
  };
}

/** The hub and model of the rerun. The row and the receipt name those of the first answer, or none. */
function answererOf({ hub, model, answered_model = null, answered_catalogue_model = null }: Route) {
  return { hub, model, answered_model, answered_catalogue_model };
}
