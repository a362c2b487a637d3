import { z } from 'zod';
import { limits } from './limits.ts';
import { AtomicMember, shownAsJson, sizedList, TimeMember, word } from './noun.ts';
import { budgetRule, type PolicyCode, type PolicyKind, type PolicyType, policyKinds } from './policy-kinds.ts';
import type { Words } from './words.ts';

/* What is shown of the policy of a book, and of what a policy would have refused: made of the one table of its kinds. */

const kinds = Object.entries<PolicyKind>(policyKinds);

export const policyTypeWords = {
  graph: 'PolicyType',
  description: "What a book's owner may set, by the specification's eight names.",
  meanings: Object.fromEntries(kinds.map(([name, { description }]) => [name, description])),
} as Words<PolicyType>;

export const policyCodeWords = {
  graph: 'PolicyCode',
  description: 'Rule of a book that refused a call.',
  meanings: {
    ...Object.fromEntries(
      kinds.flatMap(([name, { rule }]) => (rule ? [[rule.policy_code, `Refused by ${name}.`]] : [])),
    ),
    [budgetRule.policy_code]: 'Refused by the budget.',
  },
} as Words<PolicyCode>;

/** How a policy is shown, by the type of its value. */
const types = {
  cap: AtomicMember,
  toggle: z.boolean(),
  models: z.array(z.string()),
  seconds: z.int(),
  tiers: shownAsJson(z.object({ high: z.array(z.string()), low: z.array(z.string()) })),
} as const satisfies Record<PolicyKind['type'], z.ZodType>;

type PolicyMembers = { [K in PolicyType]: z.ZodNullable<(typeof types)[(typeof policyKinds)[K]['type']]> };
const members = Object.fromEntries(
  kinds.map(([name, { type, description }]) => [
    name,
    types[type].nullable().describe(`${description} Null if not set.`),
  ]),
) as unknown as PolicyMembers;

export const ShadowPolicyNoun = z.object(members);

export const PolicyNoun = z.object({
  agent_id: z.int().describe('Id of the agent of the book.'),
  ...members,
  shadow: ShadowPolicyNoun.nullable().describe(
    'Policies in shadow mode. They refuse nothing: each `would_block` event records what one would have refused. Null if none is set.',
  ),
});

const PolicyCodeMember = word(policyCodeWords).describe('Rule that would have refused it, as a code.');

/** A call that the book let pass, and that the policies which are tried would have refused. */
export const SimulatedRefusalNoun = z.object({
  task_id: z.string().describe('Task id of the call.'),
  seq: z.int().describe('Position of its row in the book.'),
  collected_at: TimeMember.describe(
    'Time the call was collected, or else recorded (RFC 3339, UTC). It is judged as of then.',
  ),
  amount: AtomicMember.nullable().describe(
    'Amount of the call, in atomic USDC. Null if a key stood in for the payment.',
  ),
  policy_code: PolicyCodeMember,
  policy_key: z
    .enum(['hourly_cap', 'daily_cap'])
    .nullable()
    .meta({ words: policyTypeWords })
    .describe('Cap of a clock period that would have refused it. Null for any other rule.'),
  spent_atomic: AtomicMember.describe(
    'Amount spent under that rule by then, in atomic USDC, without what was blocked before.',
  ),
  cap_atomic: AtomicMember.nullable().describe('The ceiling, in atomic USDC. Null if no amount decides.'),
  period_start: TimeMember.nullable().describe(
    'Start of the hour or day of that cap (RFC 3339, UTC). Null if no clock period decides.',
  ),
  reason: z.string().describe('Reason for the refusal, in words.'),
});

/** What one rule would have refused. */
export const SimulatedSumNoun = z.object({
  policy_code: PolicyCodeMember,
  count: z.int().describe('Number of calls.'),
  amount: AtomicMember.describe('Amount of these calls, in atomic USDC.'),
});

/** A page of a simulation. Its sums are over all that was looked at up to `through_seq`, by the pages before it too. */
export const PolicySimulationNoun = z.object({
  agent_id: z.int().describe('Id of the agent of the book.'),
  rows: sizedList(SimulatedRefusalNoun, limits.book_page_rows_max).describe(
    'Calls that would have been refused, oldest first.',
  ),
  considered_count: z.int().describe('Number of calls that were judged, by this page and by those before it.'),
  considered_amount: AtomicMember.describe('Amount of these calls, in atomic USDC.'),
  blocked_count: z.int().describe('Number of these calls that would have been refused.'),
  blocked_amount: AtomicMember.describe('Amount of the calls that would have been refused, in atomic USDC.'),
  blocked_by: sizedList(SimulatedSumNoun, kinds.length + 1).describe(
    'Number and amount of the calls that would have been refused, by rule.',
  ),
  unknown_operation_count: z
    .int()
    .describe(
      'Number of calls that were judged and whose row does not tell their operation: `risk_tiers` let them pass.',
    ),
  through_seq: z
    .int()
    .describe('Position in the book of the last row that was looked at. The sums cover all rows up to it.'),
  complete: z
    .boolean()
    .describe('True if every row between `from` and `to` was looked at. If false, `cursor` goes on from here.'),
  cursor: z
    .string()
    .nullable()
    .describe('Pass it to go on from here, with the same policy, from and to. Null if it is complete.'),
});
