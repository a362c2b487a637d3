import { canonicalHash, type JsonObject } from '../../schema/canonical-json.ts';
import { type ErrorCode, Refusal } from '../../schema/errors.ts';
import { type Context } from '../../subgraphs/context.ts';
import { isFormerKeyCall } from '../../subgraphs/receipt/claim/former-request.ts';
import { type NamedPayment, namedPayment } from '../../subgraphs/receipt/claim/identifier.ts';
import { type KeyCallHold } from '../../subgraphs/receipt/claim/key-call/hold.ts';
import {
  type NamedAnswer,
  type NamedCall,
  type NameStanding,
  type NameTaking,
  namedAnswerBox,
  namedCallMark,
  nameStanding,
} from '../../subgraphs/receipt/claim/key-call/idempotency-names.ts';
import { keyAnswerLabel } from '../../subgraphs/receipt/claim/rerun.ts';
import { claimByKey } from '../../subgraphs/receipt/claim/transitions.ts';
import { receiptsByTask } from '../../subgraphs/receipt/receipt/find.ts';
import { type AnyPaid, type Work } from '../../subgraphs/sale.ts';
import { provesItsPayer } from '../rails/payment.ts';
import { type GuessParts, requireNoGuessOf } from './guesses.ts';
import { type CallParts } from './parts.ts';
import { type Landing } from './record/facts.ts';
import { type CallMarks, idempotencyKeyOf } from './request.ts';
import { type CallOutcome } from './respond.ts';
import { announceSalt } from './response-headers.ts';
import { type Bought, type Kept, type Presented } from './states.ts';

type BuyParts = GuessParts & Pick<CallParts, 'database' | 'respond'>;

/** Look-ups of one call. If the first payment is released during a look-up, the next one finds the name free. */
const LOOKS_MAX = 3;

/**
 * Makes a named purchase once: another payment of the same payer for the same request under that name gets what the first one bought, and
 * is neither claimed nor sent. The name is claimed with the first payment in one commit. The second call may be refused because of that
 * name or because of the reduced balance, so after both refusals the name is looked up again.
 */
export async function buyOnce<E>(
  parts: BuyParts,
  presented: Presented,
  context: Context,
  enter: () => Promise<E>,
): Promise<E | Bought> {
  const { names } = presented;
  if (names.length === 0) return enter();
  for (let looks = 1; ; looks++) {
    const before = await boughtUnderAny(parts, names, presented, context);
    if (before) return before;
    try {
      return await enter();
    } catch (refusal) {
      if (!(refusal instanceof Refusal) || !byAnother.has(refusal.code)) throw refusal;
      const since = await boughtUnderAny(parts, names, presented, context);
      if (since) return since;
      if (refusal.code !== 'payment_in_flight' || looks >= LOOKS_MAX) throw refusal;
    }
  }
}

/** Refusals that another payment may have caused: it holds the name or the slot, or its amount is reserved from the balance. */
const byAnother: ReadonlySet<ErrorCode> = new Set([
  ...(['payment_in_flight', 'payment_rejected', 'wallet_registered', 'duplicate_ref'] as const),
]);

/** Returns what another payment bought under any of these names. A purchase may have two. */
async function boughtUnderAny(
  parts: BuyParts,
  names: readonly NamedPayment[],
  presented: Presented,
  context: Context,
): Promise<Bought | null> {
  for (const named of names) {
    const bought = await boughtUnder(parts, named, presented, context);
    if (bought) return bought;
  }
  return null;
}

/**
 * Returns what another payment bought under that name. Null if there is none.
 * @throws payment_identifier_conflict, idempotency_key_conflict, payment_in_flight, settlement_pending, payer_proof_required. A caller who
 * is not the payer gets payment_rejected, and learns nothing of the purchase
 */
async function boughtUnder(
  parts: BuyParts,
  named: NamedPayment,
  presented: Presented,
  context: Context,
): Promise<Bought | null> {
  const { database, respond } = parts;
  const standing = await namedPayment(database, named, presented);
  if (standing === null || standing.claim_key === presented.claim_key) return null;
  // A used payment is public calldata, and names can be guessed, so a used payment counts only for the request that it was made for.
  const own = await claimByKey(database, presented.claim_key);
  if (own && own.state !== 'released') return null;
  await requirePayers(parts, presented);
  const { kind, claim_key, task_id } = standing;
  await requireNoGuessOf(parts, { claim_key, is_asked: kind !== 'foreign' }, presented, context);
  const by = named.by ?? 'payment_identifier';
  switch (kind) {
    case 'replayed':
      return { kind: 'bought', presented, before: standing };
    case 'foreign':
      throw respond({ kind: 'name_foreign', by });
    case 'in_flight':
      throw respond({ kind: 'name_in_flight', by, task_id });
    case 'pending':
      throw respond({ kind: 'pending', task_id });
  }
}

/** Requires proof of the payer. A key's signature is proof by itself, a wallet's only if its code confirms it. */
async function requirePayers({ respond }: BuyParts, { paid, payment, rail }: Presented): Promise<void> {
  if (provesItsPayer(payment)) return;
  const proof = await rail.proveUsed(payment);
  if (proof.kind === 'rejected') throw respond({ kind: 'rejected', paid, reason: proof.reason });
  if (proof.kind === 'undecided') throw respond({ kind: 'unknown' }, proof.cause);
}

/*
 * A call by API key has no payment that identifies it. Its caller's Idempotency-Key distinguishes it from the next call, and the work under
 * one key is done once. Only answers are stored: a failed call frees its name.
 */

type NamedCallParts = Pick<CallParts, 'database' | 'vault' | 'queues' | 'log' | 'respond'>;

interface Asking extends Pick<CallMarks, 'router_key_mark'> {
  readonly paid: AnyPaid;
  readonly args: JsonObject;
}

/** The name of a call, and the request that it belongs to. @throws invalid_request if the header is invalid */
export async function namedCallOf(
  { database, vault }: Pick<CallParts, 'database' | 'vault'>,
  { paid, args, router_key_mark }: Asking,
  api_key_hash: string,
  context: Context,
): Promise<NamedCall | null> {
  const key = idempotencyKeyOf(context);
  if (key === null) return null;
  const { possession } = context.principal;
  // An answer belongs to the session and router key of its call, as it does with a payment.
  const agent_id = possession.kind === 'proven' ? possession.agent_id : null;
  const hashOf = (said: JsonObject) => canonicalHash({ field: paid.field, args: said, agent_id, router_key_mark });
  const mark = namedCallMark(vault, api_key_hash, key);
  const named = { mark, api_key_hash, request_hash: hashOf(args) };
  // A name from the previous version is found by that version's hash, like a payment (see request.ts).
  const former = paid.former_args?.(args) ?? null;
  if (former === null) return named;
  const before = { ...named, request_hash: hashOf(former) };
  return (await isFormerKeyCall(database, before)) ? before : named;
}

/** A call that was answered under its name before. */
export type AnsweredBefore = Extract<NameStanding, { kind: 'recorded' }>;

/**
 * Returns the answer that is stored under the name. It is looked up before the call is checked, so that an answered call is not checked
 * again.
 * @throws idempotency_key_conflict, idempotency_key_in_flight
 */
export async function answeredBefore(
  { database, respond }: Pick<CallParts, 'database' | 'respond'>,
  named: NamedCall | null,
): Promise<AnsweredBefore | null> {
  const standing = named && (await nameStanding(database, named));
  if (standing === null || standing.kind === 'free') return null;
  if (standing.kind === 'recorded') return standing;
  throw respond(nameLost[standing.kind]);
}

/** Outcomes of calls whose name is unavailable. Nothing was charged. */
export const nameLost: Record<Exclude<NameTaking, { kind: 'taken' | 'recorded' }>['kind'], CallOutcome> = {
  foreign: { kind: 'name_foreign', by: 'idempotency_key' },
  in_flight: { kind: 'key_name_in_flight' },
  full: { kind: 'key_names_full' },
};

interface KeptAnswer {
  readonly answer: JsonObject;
  readonly request_salt: string;
}

/**
 * Returns the answer to be stored under the name. No answer is stored if this process cut it off as it stopped, as none is stored after a
 * crash.
 */
export function namedAnswer(
  { vault }: Pick<CallParts, 'vault'>,
  named: NamedCall | null,
  hold: KeyCallHold,
  { answer, omission_rule }: Work<JsonObject>,
  { request_salt }: Landing,
): NamedAnswer | null {
  if (named === null) return null;
  const { mark } = named;
  if (omission_rule === 'process_ended') return { ...hold, mark, answer_box: null };
  const kept: KeptAnswer = { answer, request_salt };
  return { ...hold, mark, answer_box: vault.seal(JSON.stringify(kept), keyAnswerLabel(hold.task_id)) };
}

/**
 * Returns the stored answer and its signed receipt. If the call is on a book, a replay event is written, unless the log is halted.
 * @throws idempotency_key_in_flight if the answer has just expired: the next call finds its name free
 */
export async function answerAgain(
  { database, vault, queues, log, respond }: NamedCallParts,
  before: AnsweredBefore,
  context: Context,
): Promise<Kept> {
  const { task_id } = before;
  const answer_box = await namedAnswerBox(database, before);
  if (answer_box === null) throw respond(nameLost.in_flight);
  const opened = vault.open(answer_box, keyAnswerLabel(task_id)).toString('utf8');
  const { answer, request_salt } = JSON.parse(opened) as KeptAnswer;
  if (!log.halt) await queues.replay.submit(task_id);
  const [receipt] = await receiptsByTask(database, [task_id]);
  if (!receipt) throw new Error(`${task_id} is recorded and has no receipt`);
  announceSalt(context, { request_salt });
  const charged = { answer, task_id, settlement_status: 'idempotent_replay', receipt } as const;
  return { kind: 'kept', charged, payment_ref: null };
}
