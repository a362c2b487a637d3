import { atomicAmount } from '../../../schema/amount.ts';
import { Refusal } from '../../../schema/errors.ts';
import type { ApprovalId } from '../../../schema/ids.ts';
import { operationsOf } from '../../../schema/paid-operations.ts';
import { type PolicyKind, type PolicyType, policyKinds } from '../../../schema/policy-kinds.ts';
import type { PolicyCall } from '../../../schema/policy-rule.ts';
import type { Tx } from '../../database.ts';
import { type Refuser } from '../../receipt/refusal/sign-refusal.ts';
import { StoredApprovals, type UsableApproval } from '../approval/stored-approvals.ts';
import { type Blocked, type Evaluation, evaluate, wouldRefuse } from '../policy/evaluate.ts';
import { type Head, type Heads, headOf, lockBooks, readBooks, storeBooks } from './append.ts';
import { type BlockedTooOften, type BookRefusal, blockCalls, blockedTooOften } from './block.ts';
import { kindsOf, nameOfKind, readBlockedHours } from './blocked-hours.ts';
import type { Reservation, ReservationRequest } from './reservation.ts';
import { type WouldBlock, wouldBlockOf } from './would-block.ts';

/* Decides which calls a book lets pass. */

/** Call that the book lets pass. */
export interface AdmittedCall {
  readonly kind: 'reserved';
  /** Ids of the models that may answer the call. Null if the book does not restrict them. */
  readonly allowed_models: readonly string[] | null;
  /** Judgements of shadow policies, which are recorded with the row of the call. */
  readonly would_block: readonly WouldBlock[];
  /** Approval that this call used. Absent if it used none. */
  readonly approval_id?: ApprovalId;
}

/** Outcome for a call without a book or without a reservation. */
export const UNASKED: AdmittedCall = { kind: 'reserved', allowed_models: null, would_block: [] };

export type ReservationOutcome = AdmittedCall | BookRefusal | BlockedTooOften;

/**
 * Reserves amounts under the caps of the book until `collect` or `voidReservations`, or refuses the calls. Items are judged in
 * order, by the clock of the database and under the head's lock. So concurrent calls cannot exceed a cap, and a kill switch is in
 * force when its request is answered. A refusal writes a row, an event and a signed document in the same transaction, or nothing if
 * its kind already has enough rows in this hour. A refusal is not a leaf, so the head of the log is not locked.
 * @throws Refusal book_damaged for all items: each can then be tried alone
 */
export async function reserve(
  tx: Tx,
  refuser: Refuser,
  items: readonly ReservationRequest[],
): Promise<readonly ReservationOutcome[]> {
  const books = await lockBooks(
    tx,
    items.map(item => item.agent_id),
  );
  requireSound(books, items);
  const locked = new Map(books);
  const approvals = await StoredApprovals.read(tx, askingForApproval(books, items));
  const judged = items.map(request => ({ request, outcome: hold(books, approvals, request) }));
  const calls = judged.flatMap(({ request, outcome }) =>
    outcome.kind === 'blocked' ? [{ request, blocked: outcome }] : [],
  );
  const { outcomes, events } = await blockCalls(tx, refuser, { books, approvals }, calls);
  approvals.storeTaken(tx);
  const changed = [...books].filter(([agent_id, head]) => locked.get(agent_id) !== head);
  storeBooks(tx, new Map(changed), events);
  const refused = new Map(calls.map(({ request }, index) => [request, outcomes[index]]));
  return judged.map(({ request, outcome }) =>
    outcome.kind === 'reserved' ? outcome : (refused.get(request) as BookRefusal | BlockedTooOften),
  );
}

/** Reserves the amount of a call, or returns the reason for a refusal. An owed call is not judged, because it cannot be refused. */
function hold(books: Heads, approvals: StoredApprovals, item: ReservationRequest): AdmittedCall | Blocked {
  const head = headOf(books, item.agent_id);
  const call = callOf(item);
  const { evaluation, by } = item.owed ? OWED : judgeCall(head, approvals, item);
  if (evaluation.kind === 'blocked') return evaluation;
  if (by && item.payment) approvals.take(by, item.payment.claim_key);
  const shadowed = item.owed ? [] : wouldRefuse(head, head.shadow, call);
  if (item.amount !== null)
    books.set(item.agent_id, { ...head, reserved_atomic: atomicAmount(head.reserved_atomic + item.amount) });
  return {
    kind: 'reserved',
    allowed_models: head.policy.model_allowlist ?? null,
    would_block: shadowed.map(blocked => wouldBlockOf(blocked, head.now_ms)),
    ...(by ? { approval_id: by.approval_id } : {}),
  };
}

interface ReservationVerdict {
  readonly evaluation: Evaluation;
  /** Approval that let the call pass. Null if none was needed, or none was found. */
  readonly by: UsableApproval | null;
}

const OWED: ReservationVerdict = { evaluation: { kind: 'admitted' }, by: null };

/** Judges a call by the policies. If only an approval is missing, the stored approvals are tried next. */
function judgeCall(head: Head, approvals: StoredApprovals, item: ReservationRequest): ReservationVerdict {
  const call = { ...callOf(item), ...(approvals.hasDenial(item, head.now_ms) && { approval: null }) };
  const evaluation = evaluate(head, call);
  if (evaluation.kind === 'admitted' || evaluation.refusal_code !== APPROVAL_WANTED) return { evaluation, by: null };
  const by = approvals.approvalOf(item);
  if (by === null) return { evaluation, by };
  const approved = evaluate(head, { ...call, approval: by });
  return { evaluation: approved, by: approved.kind === 'admitted' ? by : null };
}

const APPROVAL_WANTED = 'approval_ttl_expired';
const approvalKinds = (Object.keys(policyKinds) as PolicyType[]).filter(
  kind => (policyKinds[kind] as PolicyKind).rule?.refusal_code === APPROVAL_WANTED,
);

/** Requests on books with an approval policy. Approvals are read for these only. */
function askingForApproval(books: Heads, items: readonly ReservationRequest[]): readonly ReservationRequest[] {
  return items.filter(({ agent_id, payment, owed }) => {
    if (!payment || owed) return false;
    const { policy } = headOf(books, agent_id);
    return approvalKinds.some(kind => policy[kind] !== undefined);
  });
}

function callOf({ amount, models, field, approval = null }: ReservationRequest): PolicyCall {
  return { amount, models, operations: operationsOf(field), approval };
}

/**
 * Returns an outcome for each call that its book refuses now and whose kind already has its maximum of rows, and null for all other
 * calls. Each call is judged alone. The function locks and writes nothing, so that a caller who is always refused costs reads only.
 * `reserve` decides about calls that may pass or get a row.
 */
export async function refusedTooOften(
  tx: Tx,
  items: readonly ReservationRequest[],
): Promise<readonly (BlockedTooOften | null)[]> {
  const books = await readBooks(
    tx,
    items.map(item => item.agent_id),
  );
  const approvals = await StoredApprovals.read(tx, askingForApproval(books, items));
  const refused = items.map(item => {
    const head = headOf(books, item.agent_id);
    const { evaluation } = judgeCall(head, approvals, item);
    if (item.owed || head.damaged || evaluation.kind === 'admitted') return null;
    return { head, evaluation, kinds: kindsOf(head, evaluation, item) };
  });
  const hours = await readBlockedHours(
    tx,
    refused.flatMap(it => it?.kinds ?? []).map(({ kind }) => kind),
  );
  return refused.map(it => {
    if (it === null) return null;
    const kinds = it.kinds.map(({ kind, rows_max }) => ({ rows_max, hour: hours.get(nameOfKind(kind)) }));
    return blockedTooOften(kinds, it.evaluation, it.head);
  });
}

/** Owed calls are exempt, because paid calls are recorded even on a book that the audit closed. */
function requireSound(books: Heads, items: readonly ReservationRequest[]): void {
  if (items.some(({ agent_id, owed }) => !owed && headOf(books, agent_id).damaged))
    throw new Refusal('book_damaged', { facts: { charged: false } });
}

/** Releases reservations of calls that were not completed. */
export async function voidReservations(tx: Tx, items: readonly Reservation[]): Promise<void> {
  // A call that reserves nothing, such as a registration, may have no book.
  const held = items.filter(item => item.amount > 0n);
  const books = await lockBooks(
    tx,
    held.map(item => item.agent_id),
  );
  for (const { agent_id, amount } of held) {
    const head = headOf(books, agent_id);
    books.set(agent_id, { ...head, reserved_atomic: atomicAmount(head.reserved_atomic - amount) });
  }
  storeBooks(tx, books, []);
}
