import { z } from 'zod';
import { limits } from './limits.ts';
import { AtomicMember, shownAsJson, sizedList, TimeMember, word } from './noun.ts';
import { budgetRule, type PolicyCode, type PolicyKind, type PolicyType, policyKinds } from './policy-kinds.ts';
import type { Words } from './words.ts';

/* Policies of a book and simulated refusals as they are shown, derived from the table of kinds. */

const kinds = Object.entries<PolicyKind>(policyKinds);

export const policyTypeWords = {
  graph: 'PolicyType',
  description: 'Policy that the owner of a book can set.',
  meanings: Object.fromEntries(kinds.map(([name, { description }]) => [name, description])),
} as Words<PolicyType>;

export const policyCodeWords: Words<PolicyCode> = {
  graph: 'PolicyCode',
  description: 'Rule of a book that refused a call.',
  meanings: {
    daily_cap_exceeded: 'The charge would exceed the policy `daily_cap`, the cap of the UTC day.',
    hourly_cap_exceeded: 'The charge would exceed the policy `hourly_cap`, the cap of the UTC clock hour.',
    model_not_allowed: 'The policy `model_allowlist` has no model that could answer the call.',
    kill_switch: 'The policy `kill_switch` is on: it refuses every call except registrations and ingests.',
    require_payment_ref: 'The call was made with an API key, and the policy `require_payment_ref` requires a payment.',
    tier2_approval_missing: 'The charge is above the policy `tier2_above`, and the call has no fresh approval.',
    high_risk_approval_missing:
      'The policy `risk_tiers` lists the call under `high`, and the call has no fresh approval.',
    [budgetRule.policy_code]: 'The charge would exceed the budget of the book.',
  },
};

/** Schema of a policy, by the type of its value. */
const types = {
  cap: AtomicMember,
  toggle: z.boolean(),
  models: z.array(z.string()),
  seconds: z.int(),
  tiers: shownAsJson(
    z.object({
      high: z.array(z.string()).describe('Acts and endpoints that require a fresh approval at any amount.'),
      low: z
        .array(z.string())
        .describe(
          'Acts and endpoints that require a fresh approval only above `tier2_above`, like those in neither list.',
        ),
    }),
  ),
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

const PolicyCodeMember = word(policyCodeWords).describe('Rule that would have refused the call, as a code.');

/** A call that the book let pass and that the simulated policies would have refused. */
export const SimulatedRefusalNoun = z.object({
  task_id: z.string().describe('Task id of the call.'),
  seq: z.int().describe('The seq of the row of the call.'),
  collected_at: TimeMember.describe(
    'Time the call was collected or, if it was not, recorded (RFC 3339, UTC). The call is judged as of this time.',
  ),
  amount: AtomicMember.nullable().describe(
    'Amount of the call, in atomic USDC; for the payment of a job, with its fee. Null if the call was not paid, such as one with an API key.',
  ),
  policy_code: PolicyCodeMember,
  policy_key: z
    .enum(['hourly_cap', 'daily_cap'])
    .nullable()
    .meta({ words: policyTypeWords })
    .describe('Hourly or daily cap that would have refused the call. Null for any other rule.'),
  spent_atomic: AtomicMember.describe(
    'Amount counted by then, in atomic USDC, without calls that the simulation had refused: in the hour or day of the cap for `hourly_cap` and `daily_cap`, otherwise all that the book has spent.',
  ),
  cap_atomic: AtomicMember.nullable().describe(
    'Cap, budget or approval threshold of the rule, in atomic USDC. Null if the rule does not depend on an amount.',
  ),
  period_start: TimeMember.nullable().describe(
    'Start of the hour or day of the cap (RFC 3339, UTC). Null for any other rule.',
  ),
  reason: z.string().describe('Reason for the refusal, as a sentence.'),
});

/** Number and amount of the calls that one rule would have refused. */
export const SimulatedSumNoun = z.object({
  policy_code: PolicyCodeMember,
  count: z.int().describe('Number of calls that the rule would have refused, on this page and the pages before it.'),
  amount: AtomicMember.describe(
    'Amount of the calls that the rule would have refused, on this page and the pages before it, in atomic USDC.',
  ),
});

/** A page of a simulation. Its sums cover all rows up to `through_seq`, including those of earlier pages. */
export const PolicySimulationNoun = z.object({
  agent_id: z.int().describe('Id of the agent of the book.'),
  rows: sizedList(SimulatedRefusalNoun, limits.book_page_rows_max).describe(
    'Calls of this page that would have been refused, oldest first. Empty with `limit` 0.',
  ),
  considered_count: z.int().describe('Number of calls that were judged on this page and the pages before it.'),
  considered_amount: AtomicMember.describe(
    'Amount of the calls that were judged on this page and the pages before it, in atomic USDC.',
  ),
  blocked_count: z
    .int()
    .describe('Number of calls that would have been refused, on this page and the pages before it.'),
  blocked_amount: AtomicMember.describe(
    'Amount of the calls that would have been refused, on this page and the pages before it, in atomic USDC.',
  ),
  blocked_by: sizedList(SimulatedSumNoun, kinds.length + 1).describe(
    'Number and amount (in atomic USDC) of the calls that each rule would have refused, on this page and the pages before it.',
  ),
  unknown_operation_count: z
    .int()
    .describe(
      'Number of calls, on this page and the pages before it, whose row does not name their endpoint. `risk_tiers` lets them pass.',
    ),
  through_seq: z
    .int()
    .describe('The seq of the last row that was read. The sums cover all rows of the simulated time up to it.'),
  complete: z
    .boolean()
    .describe('True if every row between `from` and `to` was read. If false, continue with `cursor`.'),
  cursor: z
    .string()
    .nullable()
    .describe(
      'Cursor of the next page; send it with the same policy, from and to. Null if the simulation is complete.',
    ),
});
