import { z } from 'zod';
import { AlertNoun } from '../book-alerts.ts';
import { evidences } from '../evidence.ts';
import { alertLimits, limits, rowLimits } from '../limits.ts';
import { AtomicMember, JsonMember, onGraph, shownAsJson, sizedList, TimeMember, word } from '../noun.ts';
import type { WordOf, Words } from '../words.ts';
import { Row } from './row.ts';

/* A book as it is shown: rows, totals, spending, intents and the signed allowance. */

const budgetWindows = {
  graph: 'BudgetWindow',
  description: 'Amounts that count toward the budget of a book.',
  meanings: { prepaid_ceiling: 'All amounts ever collected on the book, except ingested payments.' },
} as const satisfies Words;

const totalsCovers = {
  graph: 'TotalsCover',
  description: 'Rows that the totals of a book cover.',
  meanings: { whole_book: 'All rows of the book, regardless of the filter.' },
} as const satisfies Words;

export const totalsGroups = {
  graph: 'TotalsBy',
  description: 'Property by which the rows of a book are grouped into sums.',
  meanings: {
    HOUR: 'Hour (UTC) in which the rows were collected.',
    DAY: 'Day (UTC) on which the rows were collected.',
    MODEL: 'Model that the hub was asked for.',
    HUB: 'Hub (model provider) that answered.',
    INTENT: 'Intent that the calls name: an id that groups attempts at the same work.',
    PAYER: 'Wallet that paid.',
    NETWORK: 'Network of the payment.',
    SESSION: 'Delegated session that the calls were made under.',
  },
} as const satisfies Words;
export type TotalsBy = WordOf<typeof totalsGroups>;

export const PendingSum = AtomicMember.describe(
  'Part of usdc_sum whose transfer has not been observed yet (rows with evidence RECORDED_BY_SETTLE), in atomic USDC (6 decimals). This part is later collected, or removed from both sums.',
);

/** Spending of a book and what is left. */
export const spendingMembers = {
  cap: AtomicMember.nullable().describe('Budget in atomic USDC (6 decimals). Null if the budget is unlimited.'),
  spent: AtomicMember.describe(
    'Sum of all amounts ever collected on the book, except ingested payments, in atomic USDC (6 decimals). Amounts in `pending` are not included.',
  ),
  remaining: AtomicMember.nullable().describe(
    'max(0, cap - spent), in atomic USDC (6 decimals). Null if the budget is unlimited.',
  ),
  pending: AtomicMember.describe(
    'Amounts that the budget and the caps count and that are not collected yet, in atomic USDC (6 decimals): rows with evidence RECORDED_BY_SETTLE, calls in progress, and both payments for a job whose first payment has settled. Each is later collected, or no longer counted.',
  ),
  available: AtomicMember.nullable().describe(
    'max(0, remaining - pending), in atomic USDC (6 decimals): what a new call may spend under the budget now. Null if the budget is unlimited.',
  ),
} as const;

const READ = limits.matching_rows_read_max.toLocaleString('en');

/** Number and sum of all rows that match a filter. */
export const matchingMembers = {
  matching_count: z
    .int()
    .nullable()
    .describe(
      `Number of rows of the book that match the filter, including rows that are not in this response. Null if counting them would require reading more than ${READ} rows.`,
    ),
  matching_usdc_sum: AtomicMember.nullable().describe(
    'Sum of the amounts of all matching rows on the rail usdc, in atomic USDC (6 decimals). Rows on other rails are counted but not summed. Null if matching_count is null.',
  ),
} as const;

export const IntentAttemptNoun = z.object({
  task_id: z.string().describe('Task id of the row of the attempt.'),
  attempt_index: z
    .int()
    .nullable()
    .describe('Number of the attempt, from 0, as its request gave it. Null if it gave none.'),
  evidence: word(evidences).describe('Evidence that the row of the attempt rests on.'),
  collected: z.boolean().describe('True if the payment of the attempt was collected.'),
});

/** Summary of an intent on a book. */
export const IntentSummaryNoun = z.object({
  intent_id: z.string().describe('Id of the intent, as calls name it.'),
  attempts: sizedList(IntentAttemptNoun, 20).describe(
    `The newest ${rowLimits.attempts_shown_max} attempts, oldest first.`,
  ),
  attempts_truncated: z
    .boolean()
    .describe(`True if the intent has more than the ${rowLimits.attempts_shown_max} attempts shown.`),
  collected_count: z.int().describe('Number of attempts at the intent whose payment was collected.'),
  blocked_count: z
    .int()
    .describe(
      'Number of attempts at the intent that the book refused, each with a row. Repeated refusals that have no row are not counted.',
    ),
});

export const BookTotalsNoun = z.object({
  count: z.int().describe('Number of rows that carry an amount.'),
  usdc_sum: AtomicMember.describe('Sum of the amounts of all rows on the rail usdc, in atomic USDC (6 decimals).'),
  pending_usdc_sum: PendingSum,
  by_rail: onGraph(
    'byRailDocument',
    JsonMember.describe('Sums by rail: {<rail>: {count, amount}}, with the amount in atomic units of the rail.'),
  ),
});

const sum = {
  rail: z.string().describe('Rail of the payments, such as `usdc`.'),
  count: z.int().describe('Number of rows that carry an amount.'),
  amount: AtomicMember.describe('Sum of the amounts of these rows, in atomic units of the rail.'),
} as const;

export const RailTotalNoun = z.object(sum);

/** Members of totals that only the graph shows. */
export const TotalsOnGraph = z.object({
  by_rail: sizedList(RailTotalNoun, 4).describe('Sums of the amounts, one for each rail. Rails have different units.'),
});

/** Sum of the rows that share a value of one grouping, on one rail. */
export const GroupTotalNoun = z.object({
  by: word(totalsGroups).describe('Property that the rows are grouped by.'),
  period: TimeMember.nullable().describe('Start of the hour or day (RFC 3339, UTC). Null unless `by` is HOUR or DAY.'),
  key: z
    .string()
    .nullable()
    .describe(
      'Value that the rows share: model, hub, intent, payer, network, or for SESSION the `delegationHash`. Null for rows without such a value, and for HOUR and DAY.',
    ),
  ...sum,
  rail: sum.rail.nullable().describe('Rail of the payments, such as `usdc`. Null for rows without a rail.'),
  truncated: z
    .boolean()
    .describe(
      `True if there are more totals of the same \`by\` than the ${limits.totals_groups_max.toLocaleString('en')} returned: older hours or days, or smaller amounts.`,
    ),
});

export const AllowanceSignatureNoun = z.object({
  alg: z.string().describe('Algorithm of the signature, as JOSE names it: `ES256`.'),
  value: z.string().describe('Signature of the issuer, in base64url.'),
});

/** The remaining allowance as it is signed. */
export const AllowanceNoun = z.object({
  agent_id: z.int().describe('Id of the agent whose book it is.'),
  remaining: AtomicMember.nullable().describe(
    'max(0, cap - spent) of the book, in atomic USDC (6 decimals); `pending` is not subtracted. Null if the budget is unlimited.',
  ),
  as_of: TimeMember.describe('Time at which `remaining` was computed (RFC 3339, UTC).'),
  signature: AllowanceSignatureNoun.describe('Signature over the canonical JSON of {agent_id, remaining, as_of}.'),
});

const Intents = z.record(
  z.string(),
  IntentSummaryNoun.extend({
    attempts: z.array(z.unknown()).describe(`The newest ${rowLimits.attempts_shown_max} attempts, oldest first.`),
  }),
);

export const BookNoun = z.object({
  agent_id: z.int().describe('Id of the agent whose book it is.'),
  limit: z.int().describe('Maximum number of rows on this page.'),
  entries: z.array(Row).describe('Rows of the page, newest first.'),
  intents: onGraph(
    'intentsDocument',
    shownAsJson(Intents)
      .meta({ cost: 2000 })
      .describe(
        `Intents that rows of this page name, by intent id; of each the newest ${rowLimits.attempts_shown_max} attempts.`,
      ),
  ),
  totals: BookTotalsNoun.describe('Number of rows with an amount, and sums of the amounts, over the whole book.'),
  totals_cover: z
    .literal('whole_book')
    .describe('Rows that `totals` covers: always `whole_book`, all rows of the book regardless of the filter.')
    .meta({ words: totalsCovers }),
  matching_count: matchingMembers.matching_count.meta({ cost: 50 }),
  matching_usdc_sum: matchingMembers.matching_usdc_sum.meta({ cost: 50 }),
  window: z
    .literal('prepaid_ceiling')
    .describe(
      'Always `prepaid_ceiling`: the budget covers all amounts ever collected on the book, except ingested payments.',
    )
    .meta({ words: budgetWindows }),
  ...spendingMembers,
  allowance: AllowanceNoun.describe(
    'Part of the budget that remains (`remaining`, null if the budget is unlimited), signed by this service.',
  ),
  budget_ends_at: TimeMember.nullable().describe(
    `Start of the hour in which the budget ends at the rate of the last hour (RFC 3339, UTC). Null if the budget is unlimited or used up, or would last more than ${alertLimits.budget_end_hours_max} hours, or if less than ${alertLimits.rate_atomic_min} atomic USDC was spent in the last hour.`,
  ),
  alerts: sizedList(AlertNoun, alertLimits.alerts_shown_max).describe(
    `The newest ${alertLimits.alerts_shown_max} alerts of the book, newest first.`,
  ),
});

/** Members of a book that only the graph shows. */
export const BookOnGraph = z.object({
  intents: z.array(IntentSummaryNoun).describe('Intents that rows of this page name.'),
});
