import type { RowRecord } from '../../../schema/book-row.ts';
import { type JsonObject, present } from '../../../schema/canonical-json.ts';
import type { PolicyCode, PolicyType } from '../../../schema/policy-kinds.ts';
import { iso } from '../../clock.ts';
import type { Blocked } from '../policy/evaluate.ts';
import { appendEvent, type EventRecord, type Head } from './append.ts';

/*
 * Judgements of shadow policies. They are made when the book lets a call pass, stored with the call, and recorded with its row. A
 * call that is not completed leaves no judgement.
 */

/** Body of the `would_block` event of one policy. The amounts that it compared are decimal digits. */
export interface WouldBlock extends JsonObject {
  readonly policy_code: PolicyCode;
  readonly reason: string;
  readonly spent_atomic: string;
  /** Time of the judgement (ISO 8601, clock of the database). It is earlier than the time of the row. */
  readonly judged_at: string;
}

/** Judgement in the form that is stored with the call. */
export function wouldBlockOf(blocked: Blocked, now_ms: number): WouldBlock {
  const { policy_code, policy_key, reason, spent_atomic, cap_atomic, period_start } = blocked;
  const key: PolicyType | null = policy_key;
  const judged = { policy_code, reason, spent_atomic: spent_atomic.toString(), judged_at: iso(now_ms) };
  return { ...present({ policy_key: key, cap_atomic: cap_atomic?.toString(), period_start }), ...judged };
}

/** Appends one event per judgement, directly after the `born` event of the row. */
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
