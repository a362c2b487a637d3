import { holderOf } from '../../schema/address-holder.ts';
import { type JsonObject } from '../../schema/canonical-json.ts';
import { Refusal } from '../../schema/errors.ts';
import { type AgentId, type TaskId } from '../../schema/ids.ts';
import { type WaivedBy } from '../../schema/receipt-payload.ts';
import { requireWriting } from '../../subgraphs/access.ts';
import { type ChargedAnswer } from '../../subgraphs/charge-port.ts';
import { type Context } from '../../subgraphs/context.ts';
import { newTask } from '../../subgraphs/new-task.ts';
import { DatabaseAway } from '../../subgraphs/outage.ts';
import {
  dropKeyCall,
  type KeyCallHold,
  LostKeyCall,
  wasKeyCallCanceled,
} from '../../subgraphs/receipt/claim/key-call/hold.ts';
import { dropNames, type NamedCall } from '../../subgraphs/receipt/claim/key-call/idempotency-names.ts';
import { HubFailed } from '../../subgraphs/receipt/inference/hub-failed.ts';
import { LogHalted } from '../../subgraphs/receipt/log/halt.ts';
import { type RequestedCall, requestedCall } from '../../subgraphs/requested-call.ts';
import { type AnyPaid, type WaivingKey, type Work, type WorkBounds } from '../../subgraphs/sale.ts';
import { type StampFact } from '../../subgraphs/stamped-row.ts';
import { requireParent } from './admission.ts';
import { type HeldKeyCall } from './claim/hold-key-calls.ts';
import { landingOf } from './claim/take.ts';
import { callerByKey } from './failures.ts';
import { admitUnderKey, type GrantParts, type KeyCallUnder, modelsUnder, requireSharedModel } from './grants.ts';
import { type AnsweredBefore, answerAgain, answeredBefore, namedAnswer, namedCallOf, nameLost } from './names.ts';
import { type CallParts } from './parts.ts';
import { isFound, type Landing, SlotTaken, workedLanding } from './record/facts.ts';
import { refusedByBook } from './refused-by-book.ts';
import { paidRequestHash, type RequestedSale } from './request.ts';
import { type Respond } from './respond.ts';
import { announceSalt } from './response-headers.ts';
import { type Held, type Kept, type Settled } from './states.ts';
import { workUntil } from './work-time.ts';

/** An API key that replaces a payment. */
interface Waiver {
  readonly by: WaivedBy | null;
  readonly hash: string;
}

/** The key's kind in the call's receipt. Null for a waived stamp, which has no receipt. */
const kinds: Record<WaivingKey, WaivedBy | null> = { live: 'live_key', demo: 'demo_key', waiver: null };

/**
 * The API key that replaces the payment of this call. Null if there is none, or a payment came with the call: then that payment is charged,
 * and a live key is only noted.
 * @throws forbidden if a demo key alone is to pay for a stamp
 */
export function waiverOf(respond: Respond, paid: AnyPaid, { principal, payment }: Context): Waiver | null {
  const { api_key, possession } = principal;
  if (payment !== null) return null;
  if (!paid.stand_ins.includes('demo')) requireWriting(principal);
  const by = paid.stand_ins.find(kind => kind === api_key.kind);
  if (by === undefined || !('hash' in api_key)) return null;
  if (possession.kind === 'wrong') throw respond({ kind: 'wrong_session' });
  return { by: kinds[by], hash: api_key.hash };
}

type KeyParts = GrantParts &
  Pick<
    CallParts,
    | 'marksOf'
    | 'random'
    | 'log'
    | 'key_calls'
    | 'queues'
    | 'record'
    | 'later'
    | 'owner'
    | 'faults'
    | 'respond'
    | 'blocked_calls'
    | 'precedence'
    | 'base_url'
  >;

/** A call by API key, held by this process until it is recorded or has failed. */
interface KeyCall {
  readonly paid: AnyPaid;
  readonly args: JsonObject;
  readonly waiver: Waiver;
  readonly call: RequestedCall;
  readonly task_id: TaskId;
  readonly request_hash: string;
  readonly agent_id: AgentId | null;
  readonly landing: Landing;
  readonly hold: KeyCallHold;
  /** The caller's name for the call. Null without one. */
  readonly named: NamedCall | null;
  /** The session under which the call is made. Null without a grant. */
  readonly under: KeyCallUnder | null;
}

/**
 * Holds a call that rests on an API key, without money: admit → hold the task, if the book allows it. Only its task id identifies it, so it
 * is never delivered again. Each call is new work whose answer is not stored, unless its caller has named it (names.ts). A call that breaks
 * off leaves nothing: no row, no receipt, no reservation, no name.
 */
export async function holdByKey(
  parts: KeyParts,
  paid: AnyPaid,
  args: JsonObject,
  waiver: Waiver,
  context: Context,
): Promise<Held | Kept> {
  const { log, key_calls, clock, faults, respond, precedence } = parts;
  // A demo is free work for everyone.
  if (waiver.by !== 'demo_key') precedence.begin(context, holderOf(context.principal.address));
  const { stopwatch } = context.response;
  stopwatch.begin('verify');
  const call = requestedCall(paid, args);
  const asked = { paid, args, call, ...parts.marksOf(call.model, context) };
  // A stamp takes effect once, so it needs no name.
  const named = paid.order === 'stamp' ? null : await namedCallOf(parts, asked, waiver.hash, context);
  const before = await answeredBefore(parts, named);
  if (before) return answerAgain(parts, before, context);
  requireRested(parts, asked, waiver, context);
  // While the log is unsound, nothing new is accepted.
  if (!log.sound) throw respond({ kind: 'not_taken', unsure: false });
  const end = key_calls.begin(waiver.hash);
  let held: Held | null = null;
  try {
    await paid.admit?.(args, null, context);
    const under = await admitUnderKey(parts, call, context);
    const key_call = keyCallOf(parts, asked, { waiver, named, under }, context);
    await requireParent(parts, call, async () => key_call.agent_id);
    stopwatch.begin('claim');
    const taken = await take(parts, key_call, context);
    if (taken.kind === 'recorded') {
      end();
      return await answerAgain(parts, taken, context);
    }
    const allowed_models = modelsUnder(key_call, taken.allowed_models);
    const bounds = { until_ms: workUntil(clock.now_ms(), null), allowed_models };
    held = heldByKey(parts, withWouldBlock(key_call, taken), end, context, bounds);
    requireSharedModel(call, allowed_models);
    await faults?.reach('after_claim');
    return held;
  } catch (error) {
    end();
    throw held ? await held.abandon(error) : error;
  }
}

/** Requires that the key and the address need not wait, as with a payer: they must wait after repeated requests that hubs refused. */
function requireRested(
  { failures, respond }: KeyParts,
  { address_mark, router_key_mark }: RequestedSale,
  { hash }: Waiver,
  { response }: Context,
): void {
  const rest = failures.rest(callerByKey(hash), address_mark, router_key_mark !== null);
  if (rest === null) return;
  Object.assign(response.headers, rest.headers);
  throw respond({ kind: 'resting', seconds: rest.seconds });
}

function keyCallOf(
  { random, owner, clock }: KeyParts,
  asked: RequestedSale,
  by: Pick<KeyCall, 'waiver' | 'named' | 'under'>,
  context: Context,
): KeyCall {
  const { possession } = context.principal;
  const task_id = newTask({ clock, random });
  return {
    ...by,
    paid: asked.paid,
    args: asked.args,
    call: asked.call,
    task_id,
    request_hash: paidRequestHash(asked.paid.field, asked.args),
    // A demo key writes to no book, even if a session comes with it.
    agent_id: possession.kind === 'proven' && by.waiver.by !== 'demo_key' ? possession.agent_id : null,
    landing: { ...landingOf(random, asked, context), delegation: by.under?.paid_under ?? null },
    hold: { task_id, lease_owner: owner },
  };
}

/** Adds the results of policies in shadow mode. Only this process has the call, so they are lost with it. */
function withWouldBlock(call: KeyCall, { would_block }: HeldKeyCall): KeyCall {
  return would_block.length === 0 ? call : { ...call, landing: { ...call.landing, would_block } };
}

function heldByKey(parts: KeyParts, call: KeyCall, end: () => void, context: Context, bounds: WorkBounds): Held {
  // There is no payment to settle.
  const settled: Settled = {
    payment_ref: null,
    announce: () => announceSalt(context, call.landing),
    async record(done) {
      const charged = await recordCall(parts, call, done);
      end();
      return charged;
    },
  };
  return {
    kind: 'held',
    task_id: call.task_id,
    args: call.args,
    payer: null,
    status: 'waived',
    bounds,
    steps: context.response.stopwatch,
    settle: async () => settled,
    abandon: error => breakOff(parts, call, error).finally(end),
  };
}

/** Holds the task, if its book allows it, in one commit that other calls share. */
async function take(parts: KeyParts, key_call: KeyCall, context: Context): Promise<AnsweredBefore | HeldKeyCall> {
  const { queues, later, respond } = parts;
  const { paid, hold, named, agent_id, call, under } = key_call;
  try {
    const outcome = await queues.key_call.submit({
      hold,
      named,
      agent_id: paid.reserves ? agent_id : null,
      call,
      under: under?.paid_under ?? null,
    });
    if (outcome.kind === 'recorded') return outcome;
    if (outcome.kind === 'blocked' || outcome.kind === 'blocked_too_often')
      throw await refusedByBook(parts, outcome, context);
    if (outcome.kind === 'refused_by_session') throw respond(outcome);
    if (outcome.kind !== 'held') throw respond(nameLost[outcome.kind]);
    return outcome;
  } catch (error) {
    if (!(error instanceof DatabaseAway)) throw error;
    // The hold may exist nevertheless, and the call would count as in progress although no process works on it.
    if (error.in_doubt) later.add(() => dropCallByKey(parts, key_call));
    throw respond({ kind: 'not_taken', unsure: false }, error);
  }
}

async function recordCall(
  parts: KeyParts,
  call: KeyCall,
  done: Work<JsonObject> | StampFact<JsonObject> | null,
): Promise<ChargedAnswer<JsonObject>> {
  const { record, faults } = parts;
  const { task_id, request_hash, agent_id, hold, waiver, paid, args } = call;
  const [work, found] = isFound(done) ? [null, done] : [done, null];
  const landing = { ...call.landing, ...workedLanding(work) };
  const settled = { task_id, request_hash, agent_id, landing, waived_by: waiver.by, transfer: null };
  await faults?.reach('before_record');
  const stamp = paid.order === 'stamp' ? ({ kind: 'stamp', paid, args, found } as const) : null;
  const named = work && namedAnswer(parts, call.named, hold, work, landing);
  const recorded = await record({ hold, settled, named, answer: stamp ?? { kind: 'stored' } });
  const answer = work?.answer ?? recorded.answer;
  if (answer === null) throw new Error(`${task_id}: a call by key has work of its own`);
  return { answer, task_id, settlement_status: 'waived', receipt: recorded.receipt };
}

/** Releases a call that broke off, now or as soon as the database allows. Nothing was charged in any case. */
async function breakOff(parts: KeyParts, call: KeyCall, error: unknown): Promise<Refusal> {
  if (error instanceof HubFailed)
    parts.failures.failedAtHub(error, callerByKey(call.waiver.hash), call.landing.paid_from_mark);
  await dropCallByKey(parts, call).catch(() => parts.later.add(() => dropCallByKey(parts, call)));
  if (error instanceof SlotTaken) return parts.respond({ kind: 'slot_taken', paid: call.paid });
  if ((error instanceof LostKeyCall || error instanceof HubFailed) && (await canceledByBuyer(parts, call)))
    return parts.respond({ kind: 'canceled', task_id: call.task_id });
  const away = error instanceof DatabaseAway || error instanceof LogHalted;
  if (error instanceof Refusal && !away) return error;
  return parts.respond({ kind: 'broke_off', away: away || error instanceof LostKeyCall, task_id: call.task_id }, error);
}

interface HeldCall {
  readonly hold: KeyCallHold;
  readonly named: Pick<NamedCall, 'mark'> | null;
}

/** Releases what a failed call held. */
function dropCallByKey({ database }: Pick<CallParts, 'database'>, { hold, named }: HeldCall): Promise<void> {
  return database.transaction(async tx => {
    dropNames(tx, named ? [{ ...hold, mark: named.mark }] : []);
    dropKeyCall(tx, hold);
  });
}

/**
 * Whether the buyer canceled the call. False if the database does not answer: a lost call has no effect either, and may be repeated too.
 */
function canceledByBuyer({ database }: Pick<CallParts, 'database'>, { hold }: HeldCall): Promise<boolean> {
  return wasKeyCallCanceled(database, hold).catch(() => false);
}
