import type { RowRecord } from '../../../schema/book-row.ts';
import { type JsonObject, present } from '../../../schema/canonical-json.ts';
import type { PolicyCode, PolicyType } from '../../../schema/policy-kinds.ts';
import { iso } from '../../clock.ts';
import type { Blocked } from '../policy/evaluate.ts';
import { appendEvent, type EventRecord, type Head } from './append.ts';

/*
 * Part of the ledger: what policies in shadow mode would have refused. It is judged when the book lets the call pass, kept
 * with the call, and told with its row: a call that comes to nothing leaves nothing.
 */

/** The body of a `would_block` event: of one policy, with the figures by which it was judged. Amounts are digits. */
export interface WouldBlock extends JsonObject {
  readonly policy_code: PolicyCode;
  readonly reason: string;
  readonly spent_atomic: string;
  /** ISO 8601, database time: before the row's. */
  readonly judged_at: string;
}

/** What is kept of it with the call. */
export function wouldBlockOf(blocked: Blocked, now_ms: number): WouldBlock {
  const { policy_code, policy_key, reason, spent_atomic, cap_atomic, period_start } = blocked;
  const key: PolicyType | null = policy_key;
  const judged = { policy_code, reason, spent_atomic: spent_atomic.toString(), judged_at: iso(now_ms) };
  return { ...present({ policy_key: key, cap_atomic: cap_atomic?.toString(), period_start }), ...judged };
}

/** Appends an event for each, of the row of the call, right behind its birth. */
export function tellWouldBlock(
  head: Head,
  { seq, task_id, collected_at }: Pick<RowRecord, 'seq' | 'task_id' | 'collected_at'>,
  would_block: readonly WouldBlock[],
): { readonly head: Head; readonly events: readonly EventRecord[] } {
  const events: EventRecord[] = [];
  let grown = head;
  for (const body of would_block) {
    const told = appendEvent(grown, { kind: 'would_block', seq, task_id, body }, collected_at);
    grown = told.head;
    events.push(told.event);
  }
  return { head: grown, events };
}
