import type { RowRecord } from '../../../schema/book-row.ts';
import { type JsonObject, present } from '../../../schema/canonical-json.ts';
import type { PolicyCode, PolicyType } from '../../../schema/policy-kinds.ts';
import { iso } from '../../clock.ts';
import type { Blocked } from '../policy/evaluate.ts';
import { appendEvent, type EventRecord, type Head } from './append.ts';

/*
 * Judgements of shadow policies: made when the book lets the call pass, stored with it, and recorded with its row. A call that is
 * not completed leaves nothing.
 */

/** Body of a `would_block` event for one policy, with the amounts it compared as digits. */
export interface WouldBlock extends JsonObject {
  readonly policy_code: PolicyCode;
  readonly reason: string;
  readonly spent_atomic: string;
  /** ISO 8601 by the clock of the database, before the time of the row. */
  readonly judged_at: string;
}

/** The judgement as it is stored with the call. */
export function wouldBlockOf(blocked: Blocked, now_ms: number): WouldBlock {
  const { policy_code, policy_key, reason, spent_atomic, cap_atomic, period_start } = blocked;
  const key: PolicyType | null = policy_key;
  const judged = { policy_code, reason, spent_atomic: spent_atomic.toString(), judged_at: iso(now_ms) };
  return { ...present({ policy_key: key, cap_atomic: cap_atomic?.toString(), period_start }), ...judged };
}

/** Appends an event for each, directly after the birth of the row. */
export function appendWouldBlock(
  head: Head,
  { seq, task_id, collected_at }: Pick<RowRecord, 'seq' | 'task_id' | 'collected_at'>,
  would_block: readonly WouldBlock[],
): { readonly head: Head; readonly events: readonly EventRecord[] } {
  const events: EventRecord[] = [];
  let grown = head;
  for (const body of would_block) {
    const appended = appendEvent(grown, { kind: 'would_block', seq, task_id, body }, collected_at);
    grown = appended.head;
    events.push(appended.event);
  }
  return { head: grown, events };
}
