import { z } from 'zod';
import { AlertNoun, changerMembers } from '../book-alerts.ts';
import { isJsonObject, type JsonObject } from '../canonical-json.ts';
import { DisputeJudgedNoun } from '../dispute/dispute.ts';
import { AnyJsonMember, AtomicMember, JsonMember, TimeMember, word } from '../noun.ts';
import { policyTypeWords, SimulatedRefusalNoun } from '../policy.ts';
import { policyModes } from '../policy-kinds.ts';
import type { WordOf, Words } from '../words.ts';
import { Row } from './row.ts';

/* Events of a book: their kinds and how one is shown. */

/** Every event has a position; only `born` assigns a seq. */
export const bookEventKinds = {
  graph: 'BookEventKind',
  description: 'What an event of a book records.',
  meanings: {
    born: 'A row was appended. Only this kind of event assigns a seq.',
    transition:
      'The evidence of a row changed from RECORDED_BY_SETTLE to collected or ARRIVAL_UNVERIFIED, or the row lost its amount because its transfer was not found on its chain.',
    replay: 'The payment of a row was sent again.',
    correction:
      'Something was found out about the row later, such as a reorganisation that took its payment out of its block, or an answer that a resend brought. The row stays unchanged.',
    blocked: 'Further calls were refused for the same reason as the call of the row. They have no rows of their own.',
    would_block: 'A policy in shadow mode would have refused the call of the row.',
    approval: 'Approval of the refused call of the row was requested, granted or denied.',
    dispute: 'A dispute of the row was decided or left open.',
    policy_changed: 'The owner of the book set or cleared a policy.',
    budget_changed: 'The owner of the book set or cleared the budget.',
    alert: 'The row caused an alert of the book: a threshold, an unusual spend, or a budget near its end.',
    escrow: 'A phase of the ledger escrow over the row: opened, released, clawed back or expired.',
    alerts_changed: 'The owner of the book changed its alert settings.',
    bid: 'Another agent bid on a job that the agent of the book has posted. Recorded only if the webhook of the book has the kind `bid`.',
    escrow_offer:
      'Another agent opened an escrow with the agent of the book. Recorded only if the webhook of the book has the kind `escrow_offer`.',
  },
} as const satisfies Words;
export type BookEventKind = WordOf<typeof bookEventKinds>;
const termsEventKinds = ['policy_changed', 'budget_changed'] as const satisfies readonly BookEventKind[];
/** Changes of the policies or the budget. They concern no row, so such an event has neither seq nor task. */
export type TermsEventKind = (typeof termsEventKinds)[number];
/** Acts of another agent that concern the owner of the book. Recorded only if its webhook has that kind. They concern no row. */
export type NoticeKind = Extract<BookEventKind, 'bid' | 'escrow_offer'>;

/** Amount, in digits, that a `transition` removed from a row because its transfer was not found. Null for any other event. */
export function givenUpAmount({ amount, born }: JsonObject): string | null {
  const had = isJsonObject(born) ? born.amount : null;
  return amount === null && typeof had === 'string' ? had : null;
}

export const GivenUpNoun = z.object({
  amount: AtomicMember.describe('Amount that the row had been counted with, in atomic units of its rail.'),
  omission_rule: z
    .string()
    .nullable()
    .describe(
      'Why the row has no amount any more, such as `no_ingress_receipt_at_cutoff`. Null if the event names no reason.',
    ),
});

const { policy_code, policy_key, spent_atomic, cap_atomic, period_start, reason } = SimulatedRefusalNoun.shape;
/** The body of a `would_block` event. */
export const WouldBlockNoun = z.object({
  policy_code,
  policy_key,
  spent_atomic: spent_atomic
    .nullable()
    .describe(
      'Amount recorded when the rule was judged, in atomic USDC, without calls in progress: in the hour or day of the cap for `hourly_cap` and `daily_cap`, otherwise all that the book has spent. The service always sets it.',
    ),
  cap_atomic,
  period_start,
  judged_at: TimeMember.nullable().describe(
    'Time the book let the call pass, before the row of the call was recorded (RFC 3339, UTC). The service always sets it.',
  ),
  reason,
});

export const BookEventNoun = z.object({
  agent_id: z.int().describe('Id of the agent whose book it is.'),
  position: z.int().describe('Position among the events of the book: from 1, without gaps.'),
  kind: word(bookEventKinds).describe('What the event records, such as `born` (a row was appended).'),
  seq: z.int().nullable().describe('The seq of the row that the event concerns. Null if it concerns no row.'),
  task_id: z.string().nullable().describe('Task id of the row that the event concerns. Null if it concerns no row.'),
  body: JsonMember.describe(
    'Facts that the event records; the members depend on `kind`. They never change, and `hash` covers them.',
  ),
  at: TimeMember.describe('Time of the event (RFC 3339, UTC).'),
  prev_hash: z.string().describe('`hash` of the previous event of the book. Empty for the first event.'),
  hash: z
    .string()
    .describe(
      'SHA-256 (hex) of the canonical JSON (RFC 8785) of {agent_id, position, kind, seq, task_id, body, at, prev_hash}.',
    ),
  count: z
    .int()
    .describe(
      'Number of occurrences that the event represents. Replays and equal refusals of a row that come too often are counted, and recorded once a minute.',
    ),
  alert: AlertNoun.nullable().describe('Alert that the event records. Null unless `kind` is `alert`.'),
  would_block: WouldBlockNoun.nullable().describe(
    'Refusal that a policy in shadow mode would have made. Null unless `kind` is `would_block`.',
  ),
  dispute: DisputeJudgedNoun.nullable().describe('Judgement of a dispute of the row. Null unless `kind` is `dispute`.'),
  escrow: JsonMember.nullable().describe(
    'Phase of a ledger escrow: `escrow_id`, `phase` (its state), `action` unless it expired, and what the action sent or checked. Null unless `kind` is `escrow`.',
  ),
  given_up: GivenUpNoun.nullable().describe(
    'Amount that the event removed from the row. Null unless `kind` is `transition` and the transfer was not found.',
  ),
  row: Row.nullable().describe('The row as it stands when the event is read. Null if the event concerns no row.'),
});

/** A change of what a book allows: an event of the book. */
export const PolicyChangeNoun = z.object({
  position: BookEventNoun.shape.position,
  kind: z.enum(termsEventKinds).describe('`policy_changed` or `budget_changed`.').meta({ words: bookEventKinds }),
  policy_type: word(policyTypeWords).nullable().describe('Policy that was changed. Null if the budget was changed.'),
  mode: word(policyModes).nullable().describe('Mode in which the policy was changed. Null if the budget was changed.'),
  before: AnyJsonMember.nullable().describe(
    'Value before the change: of the policy, in the same mode, as it was set, or the budget in atomic USDC, as digits. Null if none was set.',
  ),
  after: AnyJsonMember.nullable().describe(
    'Value after the change: of the policy, as it is set, or the budget in atomic USDC, as digits. Null if it was cleared.',
  ),
  policy_version: z
    .int()
    .describe('Number of changes to the policies and the budget of the book so far, including this change.'),
  at: TimeMember.describe('Time of the change (RFC 3339, UTC).'),
  ...changerMembers,
});
