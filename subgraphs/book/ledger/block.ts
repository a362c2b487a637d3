import { type InitialFacts, type RowRecord, unknownFacts } from '../../../schema/book-row.ts';
import { type JsonObject, present } from '../../../schema/canonical-json.ts';
import { type AgentId, type RefusalId, refusalId } from '../../../schema/ids.ts';
import type { PolicyCode } from '../../../schema/policy-kinds.ts';
import { type Tx } from '../../database.ts';
import { issueRefusals, type RefusalFacts, type Refuser } from '../../receipt/refusal/sign-refusal.ts';
import { type ApprovalColumns, askApproval, storeApprovals } from '../approval/ask.ts';
import type { StoredApprovals } from '../approval/stored-approvals.ts';
import type { Blocked } from '../policy/evaluate.ts';
import { appendRow, type EventRecord, type Head, type Heads, headOf, storeNewRows } from './append.ts';
import {
  type BlockedHour,
  kindsOf,
  nameOfKind,
  readBlockedHours,
  secondsLeft,
  storeBlockedHours,
} from './blocked-hours.ts';
import type { ReservationRequest } from './reservation.ts';

/* Records refusals of calls by their book, under the lock of its head. */

/** A call and the reason to refuse it. */
export interface BlockedCall {
  readonly request: ReservationRequest;
  readonly blocked: Blocked;
}

/** Refusal that has its own row and signed document. */
export interface BookRefusal {
  readonly kind: 'blocked';
  readonly refusal_id: RefusalId;
}

/**
 * Refusal of a kind that already has its maximum of rows in this hour. Nothing is written for it, so it names the last written
 * refusal.
 */
export interface BlockedTooOften {
  readonly kind: 'blocked_too_often';
  readonly agent_id: AgentId;
  readonly seq: number;
  readonly task_id: string;
  readonly policy_code: PolicyCode;
  readonly last_refusal_id: RefusalId;
  /** Seconds until a refusal of this kind may have a row again. The policies are still checked at every call. */
  readonly retry_after_seconds: number;
  /** Time of the refusal (ms), by the clock of the database. */
  readonly at_ms: number;
}

const ID_BYTES = 10;

/** Locked heads, and the stored approvals for the calls. */
export interface BlockingBooks {
  readonly books: Heads;
  readonly approvals: StoredApprovals;
}

/**
 * Writes the rows, signed refusals and approval requests of refused calls. Returns the outcome of each call and the events, which
 * the caller stores. Only the first calls of a kind in an hour have rows. Nothing is written for the others.
 */
export async function blockCalls(
  tx: Tx,
  refuser: Refuser,
  { books, approvals }: BlockingBooks,
  calls: readonly BlockedCall[],
): Promise<{ outcomes: readonly (BookRefusal | BlockedTooOften)[]; events: readonly EventRecord[] }> {
  const kindsOfCall = ({ request, blocked }: BlockedCall) => kindsOf(headOf(books, request.agent_id), blocked, request);
  const hours = await readBlockedHours(
    tx,
    calls.flatMap(kindsOfCall).map(({ kind }) => kind),
  );
  const grown = new Map<string, BlockedHour>();
  const written: BlockWrite[] = [];
  const events: EventRecord[] = [];
  const opened: ApprovalColumns[] = [];
  const outcomes = calls.map(call => {
    const head = headOf(books, call.request.agent_id);
    const kinds = kindsOfCall(call).map(it => {
      const name = nameOfKind(it.kind);
      return { ...it, name, hour: grown.get(name) ?? hours.get(name) };
    });
    const too_often = blockedTooOften(kinds, call.blocked, head);
    if (too_often) return too_often;
    const born = refuse(refuser, head, call);
    const asking = askApproval(refuser, approvals, born.head, { ...call, row: born.row });
    books.set(call.request.agent_id, asking?.head ?? born.head);
    if (asking) opened.push(asking.opened);
    for (const { kind, name, hour } of kinds)
      grown.set(name, { ...kind, ...lastOf(born), rows: (hour?.rows ?? 0) + 1 });
    written.push(born);
    events.push(born.event, ...(asking ? [asking.event] : []));
    return { kind: 'blocked', refusal_id: born.refusal.refusal_id } as const;
  });
  const rows = written.map(({ row }) => row);
  storeNewRows(tx, rows);
  issueRefusals(
    tx,
    refuser,
    written.map(({ refusal }) => refusal),
  );
  storeBlockedHours(tx, [...grown.values()]);
  storeApprovals(tx, opened);
  return { outcomes, events };
}

/** Outcome that names the last row of a kind, if that kind has its maximum of rows. Null if another row may be written. */
export function blockedTooOften(
  kinds: readonly { readonly hour: BlockedHour | undefined; readonly rows_max: number }[],
  { policy_code }: Blocked,
  head: Head,
): BlockedTooOften | null {
  const hour = kinds.find(it => (it.hour?.rows ?? 0) >= it.rows_max)?.hour;
  if (hour === undefined) return null;
  const { agent_id, seq, task_id, refusal_id: last_refusal_id } = hour;
  const last = { agent_id, seq, task_id, policy_code, last_refusal_id };
  return {
    kind: 'blocked_too_often',
    ...last,
    retry_after_seconds: secondsLeft(hour, head.now_ms),
    at_ms: head.now_ms,
  };
}

interface BlockWrite {
  readonly head: Head;
  readonly row: RowRecord;
  readonly event: EventRecord;
  readonly refusal: RefusalFacts;
}

const lastOf = ({ row, refusal }: BlockWrite) => ({
  seq: row.seq,
  task_id: row.task_id,
  refusal_id: refusal.refusal_id,
});

function refuse({ random }: Refuser, head: Head, { request, blocked }: BlockedCall): BlockWrite {
  const refusal_id = refusalId(head.now_ms, random.bytes(ID_BYTES));
  const born = appendRow(head, initialFactsOf(request, blocked, refusal_id), head.now_ms);
  const { refusal_code, policy_code } = blocked;
  const refusal = {
    refusal_id,
    refusal_code,
    policy_code,
    task_id: request.task_id,
    agent_id: request.agent_id,
    book_seq: born.row.seq,
    requested_atomic: request.amount,
    at_ms: head.now_ms,
  };
  return { ...born, refusal };
}

/** Nothing was charged, so the row has no payment. */
function initialFactsOf(request: ReservationRequest, blocked: Blocked, refusal_id: RefusalId): InitialFacts {
  const { task_id, model, intent_id, attempt_index, parent_ref, payer_wallet } = request;
  const named = { task_id, model, intent_id, attempt_index, parent_ref, payer_wallet };
  return {
    ...unknownFacts,
    ...named,
    evidence: 'policy_blocked',
    collected: false,
    facts: factsOf(blocked, refusal_id),
  };
}

function factsOf(blocked: Blocked, refusal_id: RefusalId): JsonObject {
  return present({
    event: 'policy_blocked',
    policy_code: blocked.policy_code,
    policy_key: blocked.policy_key,
    reason: blocked.reason,
    spent_atomic: blocked.spent_atomic.toString(),
    cap_atomic: blocked.cap_atomic?.toString(),
    period_start: blocked.period_start,
    refusal_id,
  });
}
