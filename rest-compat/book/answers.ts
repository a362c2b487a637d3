import { z } from 'zod';
import { AlertNoun, AlertSettingsNoun } from '../../schema/book-alerts.ts';
import { limits } from '../../schema/limits.ts';
import { Atomic, JsonMembers, nameComponents } from '../answer-shapes.ts';
import { Row } from './row.ts';

const READ = limits.matching_rows_read_max.toLocaleString('en');

/** What a book answers, as it looks on the wire: of its totals, what may still leave them. */
export const pendingSumWords =
  'Part of usdc_sum whose transfer has not been observed yet (rows with evidence RECORDED_BY_SETTLE), in atomic USDC (6 decimals). It is later collected, or removed from both sums.';

/** What a book has spent, and what is left. */
export const spendingMembers = {
  cap: Atomic.nullable().describe('Budget Y, in atomic USDC (6 decimals). Null is unlimited.'),
  spent: Atomic.describe(
    'Sum of the collected amounts under the budget, in atomic USDC (6 decimals). Amounts in `pending` are not included.',
  ),
  remaining: Atomic.nullable().describe(
    'max(0, cap - spent), in atomic USDC (6 decimals). Null if the budget is unlimited.',
  ),
  pending: Atomic.describe(
    'Amounts that the budget and the caps count and that are not collected yet, in atomic USDC (6 decimals): rows with evidence RECORDED_BY_SETTLE, calls in progress, and both payments for a job whose first payment has settled. Each is later collected, or no longer counted.',
  ),
  available: Atomic.nullable().describe(
    'max(0, remaining - pending), in atomic USDC (6 decimals): what a new call may spend under the budget now. Null if the budget is unlimited.',
  ),
} as const;

export const BookAnswer = z.object({
  agent_id: z.int(),
  limit: z.int(),
  entries: z.array(Row),
  intents: z
    .record(
      z.string(),
      z.object({
        intent_id: z.string(),
        attempts: z.array(z.unknown()).describe('The newest 200 attempts, oldest first.'),
        attempts_truncated: z.boolean().describe('True if the intent has more than the 200 attempts shown.'),
        collected_count: z.int(),
        blocked_count: z.int(),
      }),
    )
    .meta({ graph: 'intentsDocument' }),
  totals: z.object({
    count: z.int(),
    usdc_sum: Atomic,
    pending_usdc_sum: Atomic.describe(pendingSumWords),
    by_rail: JsonMembers.meta({ graph: 'byRailDocument' }),
  }),
  totals_cover: z
    .literal('whole_book')
    .describe('Rows that `totals` covers: always `whole_book`, all rows of the book regardless of the filter.'),
  matching_count: z
    .int()
    .nullable()
    .describe(
      `Number of rows of the book that match the filter, including rows that are not in this response. Null if counting them would require reading more than ${READ} rows.`,
    ),
  matching_usdc_sum: Atomic.nullable().describe(
    'Sum of the amounts of all matching rows on the rail usdc, in atomic USDC (6 decimals). Rows on other rails are counted but not summed. Null if matching_count is null.',
  ),
  window: z.literal('prepaid_ceiling'),
  ...spendingMembers,
  allowance: z.object({
    agent_id: z.int(),
    remaining: Atomic.nullable(),
    as_of: z.string(),
    signature: z.object({ alg: z.string(), value: z.string() }),
  }),
  budget_ends_at: z
    .string()
    .nullable()
    .describe('The UTC clock hour in which the budget ends at the rate of the last hour; null where nobody can tell.'),
  alerts: z.array(AlertNoun).describe('The newest, newest first.'),
});

nameComponents({
  BookAlert: AlertNoun,
  AlertSettings: AlertSettingsNoun,
  Book: BookAnswer,
  BookEntry: Row,
});
