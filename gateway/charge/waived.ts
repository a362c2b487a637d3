import { canonicalHash, type JsonObject } from '../../schema/canonical-json.ts';
import { Refusal } from '../../schema/errors.ts';
import { type AgentId, type TaskId, taskId } from '../../schema/ids.ts';
import { type Principal } from '../../schema/principal.ts';
import type { WaivedBy } from '../../schema/receipt-payload.ts';
import { requireWriting } from '../../subgraphs/access.ts';
import type { Context } from '../../subgraphs/context.ts';
import { DatabaseAway } from '../../subgraphs/outage.ts';
import { dropKeyCall, type KeyCallHold, LostKeyCall } from '../../subgraphs/receipt/claim/key-call/hold.ts';
import { dropNames, type NamedCall } from '../../subgraphs/receipt/claim/key-call/idempotent.ts';
import { LogHalted } from '../../subgraphs/receipt/log/halt.ts';
import { type Charged, type ChargedStream, orders, type Work } from '../../subgraphs/sale.ts';
import { prepareRecord } from '../record/forms.ts';
import type { AnyPaid, AnyStream, AnyWhole, Landing } from '../record/recorder.ts';
import { landingOf } from './claim-request.ts';
import { workUntil } from './deadline.ts';
import { pumpOf } from './drive-stream.ts';
import {
  type AnsweredBefore,
  answerAgain,
  answeredBefore,
  namedAnswer,
  namedCallOf,
  refusedName,
  streamAgain,
} from './named-calls.ts';
import { announceSalt } from './payment-response.ts';
import { refusedByBook, refusedOnceMore } from './refused-by-book.ts';
import { enterRecord, workedLanding } from './settle-claim.ts';
import type { Till } from './till.ts';

/** What a key can stand in for: work, whole or streamed. */
type Waivable = Exclude<AnyPaid, { readonly order: 'stamp' }>;

/** A key that stands in for a payment. */
export interface Waiver {
  readonly by: WaivedBy;
  readonly hash: string;
}

const kinds: Partial<Record<Principal['api_key']['kind'], WaivedBy>> = { live: 'live_key', demo: 'demo_key' };

/**
 * Whether a key stands in for the payment of this call: where a payment came along, that is charged, and the key only
 * noted. @throws forbidden where the call would write with a demo key: the session's book, or what a stamp is for.
 */
export function waiverOf(paid: AnyPaid, { principal, payment }: Context): Waiver | null {
  const { api_key, possession } = principal;
  if (!orders[paid.order].waivable || possession.kind === 'proven') requireWriting(principal);
  const by = kinds[api_key.kind];
  if (by === undefined || !('hash' in api_key) || payment !== null || !orders[paid.order].waivable) return null;
  if (possession.kind === 'wrong') throw new Refusal('forbidden');
  return { by, hash: api_key.hash };
}

/** A call by key, held by this process until it is recorded or has come to nothing. */
interface KeyCall {
  readonly waiver: Waiver;
  readonly args: JsonObject;
  readonly task_id: TaskId;
  readonly request_hash: string;
  readonly agent_id: AgentId | null;
  readonly landing: Landing;
  readonly hold: KeyCallHold;
  /** What its caller calls it; null where it has no name. */
  readonly named: NamedCall | null;
  /** Its place among the calls of its key. */
  end(): void;
}

/**
 * The story of a call by key: that of charge.ts without the money. admit → hold the task, if the book lets it pass → work
 * → record. Nothing names such a call but its own task, so none is ever delivered again: each is new work, of which no
 * answer is kept, unless its caller has named it (named-calls.ts). One that breaks off leaves nothing: no row, no receipt,
 * nothing held on a book, no name taken.
 */
export async function chargeByKey(
  till: Till,
  paid: AnyWhole,
  args: JsonObject,
  waiver: Waiver,
  context: Context,
): Promise<Charged<JsonObject>> {
  if (paid.order !== 'work_then_settle') throw new Error(`no key stands in for the payment of ${paid.field}`);
  const { stopwatch } = context.response;
  const entered = await enterByKey(till, paid, args, waiver, context);
  if (entered.kind === 'recorded') return answerAgain(till, entered, context);
  const { call } = entered;
  try {
    await till.faults.reach('after_claim');
    stopwatch.begin('work');
    const work = await paid.work(args, call.task_id, context, workUntil(till.clock.now_ms(), null));
    await till.faults.reach('after_work');
    stopwatch.begin('record');
    const charged = await recordCall(till, call, work);
    announceSalt(context, call.landing);
    return charged;
  } catch (error) {
    throw await breakOff(till, call, error);
  } finally {
    call.end();
  }
}

/** The same, streamed: the text goes out from its first piece on, and is brought to its end whether or not it is read. */
export async function chargeStreamByKey(
  till: Till,
  paid: AnyStream,
  args: JsonObject,
  waiver: Waiver,
  context: Context,
): Promise<ChargedStream<JsonObject>> {
  const entered = await enterByKey(till, paid, args, waiver, context);
  if (entered.kind === 'recorded') return streamAgain(till, paid, entered, context);
  const { call } = entered;
  try {
    await till.faults.reach('after_claim');
    context.response.stopwatch.begin('work');
    const speaking = await paid.open(args, call.task_id, context, workUntil(till.clock.now_ms(), null));
    const pump = pumpOf(till, speaking);
    pump.release();
    const recorded = pump.ended
      .then(() => recordCall(till, call, speaking.spoken()))
      .catch(async error => {
        throw await breakOff(till, call, error);
      })
      .finally(() => call.end());
    till.streams.add(recorded, () => pump.cancel());
    announceSalt(context, call.landing);
    const { task_id } = call;
    return {
      task_id,
      settlement_status: 'waived',
      payment_ref: null,
      begun: speaking.begun,
      pieces: pump.pieces,
      recorded,
    };
  } catch (error) {
    call.end();
    throw await breakOff(till, call, error);
  }
}

/** A call past its key: held, or answered under its name before. */
type EnteredByKey = { readonly kind: 'held'; readonly call: KeyCall } | AnsweredBefore;

async function enterByKey(
  till: Till,
  paid: Waivable,
  args: JsonObject,
  waiver: Waiver,
  context: Context,
): Promise<EnteredByKey> {
  const { stopwatch } = context.response;
  stopwatch.begin('verify');
  const named = namedCallOf(till, { paid, args, api_key_hash: waiver.hash }, context);
  const before = await answeredBefore(till, named);
  if (before) return before;
  // With a log that cannot be relied on nothing new is taken.
  if (!till.log.sound) throw new Refusal('unavailable', { facts: { charged: false } });
  const end = till.key_calls.begin(waiver.hash);
  try {
    await paid.admit?.(args, null, context);
    stopwatch.begin('claim');
    const { possession } = context.principal;
    const task_id = taskId(till.clock.now_ms(), till.random.bytes(10));
    const call = {
      waiver,
      args,
      task_id,
      request_hash: canonicalHash({ field: paid.field, args }),
      agent_id: possession.kind === 'proven' ? possession.agent_id : null,
      landing: landingOf(till, paid, args, context),
      hold: { task_id, lease_owner: till.owner },
      named,
      end,
    };
    const since = await take(till, paid, call, context);
    if (since) end();
    return since ?? { kind: 'held', call };
  } catch (error) {
    end();
    throw error;
  }
}

/** Holds the task, with its book's leave, in one commit that other calls share. */
async function take(till: Till, paid: Waivable, call: KeyCall, context: Context): Promise<AnsweredBefore | null> {
  const { hold, named, agent_id, landing, args } = call;
  const model = paid.model?.(args) ?? null;
  try {
    const outcome = await till.queues.key_call.submit({ hold, named, agent_id, landing, model });
    if (outcome.kind === 'recorded') return outcome;
    if (outcome.kind === 'blocked') throw await refusedByBook(till, outcome.refusal_id, context);
    if (outcome.kind === 'blocked_too_often') throw refusedOnceMore(till, outcome, context);
    if (outcome.kind !== 'held') throw refusedName(outcome);
    return null;
  } catch (error) {
    if (!(error instanceof DatabaseAway)) throw error;
    // It may stand all the same: what nobody works on would be said to be worked on.
    if (error.in_doubt) till.owed.add(() => drop(till, call));
    throw new Refusal('unavailable', { cause: error, facts: { charged: false } });
  }
}

async function recordCall(till: Till, call: KeyCall, work: Work<JsonObject>): Promise<Charged<JsonObject>> {
  const { task_id, request_hash, agent_id, hold, waiver } = call;
  const landing = { ...call.landing, ...workedLanding(work) };
  const settled = { task_id, request_hash, agent_id, landing, waived_by: waiver.by, transfer: null };
  await till.faults.reach('before_record');
  const prepared = prepareRecord(till, settled);
  const named = namedAnswer(till, call.named, hold, work, landing);
  const { receipt } = await enterRecord(till, { hold, settled, prepared, named, answer: { kind: 'stored' } });
  return { answer: work.answer, task_id, settlement_status: 'waived', receipt };
}

const drop = (till: Till, { hold, named }: KeyCall): Promise<void> =>
  till.database.transaction(async tx => {
    dropNames(tx, named ? [{ ...hold, mark: named.mark }] : []);
    dropKeyCall(tx, hold);
  });

/** A call that broke off is let go of now, or as soon as the database allows. Whatever happened, nothing was charged. */
async function breakOff(till: Till, call: KeyCall, error: unknown): Promise<Refusal> {
  await drop(till, call).catch(() => till.owed.add(() => drop(till, call)));
  const away = error instanceof DatabaseAway || error instanceof LogHalted;
  if (error instanceof Refusal && !away) return error;
  const code = away || error instanceof LostKeyCall ? 'unavailable' : 'internal';
  return new Refusal(code, { cause: error, facts: { charged: false, task_id: call.task_id } });
}
