import type { AtomicAmount } from '../../../schema/amount.ts';
import type { Json, JsonObject } from '../../../schema/canonical-json.ts';
import { canonicalHash } from '../../../schema/digest.ts';
import type { ArrivalStatus, BookEventKind, Evidence } from '../../../schema/evidence.ts';
import type { BookPolicy } from '../../../schema/requests/policy.ts';
import { iso } from '../../clock.ts';
import { type Counters, tally } from './counters.ts';

/** A book's head as the ledger holds it under lock. */
export interface Head extends Counters {
  readonly agent_id: number;
  readonly reserved_atomic: AtomicAmount;
  /** Budget Y; null is unlimited. */
  readonly budget_atomic: AtomicAmount | null;
  readonly policy: BookPolicy;
  /** Another one whenever budget or policy were set. */
  readonly policy_version: number;
  readonly seq: number;
  readonly position: number;
  readonly row_hash: string;
  readonly event_hash: string;
  /** Its audit has closed it: nothing new is let in, and what was paid for is brought to its end. */
  readonly damaged: boolean;
  /** Database time, read once the head was locked. */
  readonly now_ms: number;
}

/** A row as it is born. What is not known is null, never left out: the hash covers every member. */
export interface RowBirth {
  readonly task_id: string;
  readonly evidence: Evidence;
  readonly collected: boolean;
  readonly payment_ref: string | null;
  readonly transfer_index: number | null;
  readonly rail: string | null;
  readonly amount: AtomicAmount | null;
  readonly model: string | null;
  readonly hub: string | null;
  readonly intent_id: string | null;
  readonly attempt_index: number | null;
  readonly payer_wallet: string | null;
  readonly settled_by: string | null;
  readonly parent_ref: string | null;
  readonly recorded_by: string | null;
  readonly arrival_status: ArrivalStatus | null;
  readonly fulfillment: JsonObject | null;
  readonly facts: JsonObject;
}

/** The columns of book_row and book_event as they are inserted. */
export type RowRecord = Omit<RowBirth, 'amount'> & {
  readonly agent_id: number;
  readonly seq: number;
  readonly amount: string | null;
  readonly collected_at: string;
  readonly prev_row_hash: string;
  readonly row_hash: string;
};
export interface EventRecord {
  readonly agent_id: number;
  readonly position: number;
  readonly kind: BookEventKind;
  readonly seq: number;
  readonly task_id: string;
  readonly body: JsonObject;
  readonly at: string;
  readonly prev_hash: string;
  readonly hash: string;
}

/** A new row takes the next seq and the next position; its hash binds its facts, its seq and the row before it. */
export function bear(head: Head, birth: RowBirth, at_ms: number): { head: Head; row: RowRecord; event: EventRecord } {
  const at = iso(at_ms);
  const seq = head.seq + 1;
  const facts = {
    ...birth,
    amount: birth.amount === null ? null : birth.amount.toString(),
    agent_id: head.agent_id,
    seq,
    collected_at: at,
    prev_row_hash: head.row_hash,
  };
  const row: RowRecord = { ...facts, row_hash: canonicalHash(facts as unknown as Json) };
  const grown = { ...tally(head, birth, at_ms, 1), seq, row_hash: row.row_hash };
  const body = { evidence: birth.evidence, collected: birth.collected, amount: facts.amount, row_hash: row.row_hash };
  return { row, ...happen(grown, { kind: 'born', seq, task_id: birth.task_id, body }, at) };
}

/** Anything else that happens to a row takes a position and no seq. */
export function happen(
  head: Head,
  what: { kind: BookEventKind; seq: number; task_id: string; body: JsonObject },
  at: string,
): { head: Head; event: EventRecord } {
  const position = head.position + 1;
  const facts = { agent_id: head.agent_id, position, ...what, at, prev_hash: head.event_hash };
  const event: EventRecord = { ...facts, hash: canonicalHash(facts) };
  return { head: { ...head, position, event_hash: event.hash }, event };
}
