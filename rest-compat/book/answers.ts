import { z } from 'zod';
import { limits } from '../../schema/limits.ts';
import { Atomic, JsonMembers, nameComponents } from '../answer-shapes.ts';
import { BookAlertAnswer } from './alert-answers.ts';
import { Row } from './row.ts';

const READ = limits.matching_rows_read_max.toLocaleString('en');

export const BookAnswer = z.object({
  agent_id: z.int(),
  limit: z.int(),
  entries: z.array(Row),
  intents: z.record(
    z.string(),
    z.object({
      intent_id: z.string(),
      attempts: z.array(z.unknown()).describe('The newest 200, oldest first.'),
      attempts_truncated: z.boolean().describe('Whether the intent has more attempts than are shown.'),
      collected_count: z.int(),
      blocked_count: z.int(),
    }),
  ),
  totals: z.object({ count: z.int(), usdc_sum: Atomic, by_rail: JsonMembers }),
  totals_cover: z
    .literal('whole_book')
    .describe('What `totals` is of: all rows of the book, whatever filter is given.'),
  matching_count: z
    .int()
    .nullable()
    .describe(
      `How many rows of the book match the filter, in this answer or not. Null where more than ${READ} would have to be read to say it.`,
    ),
  matching_usdc_sum: Atomic.nullable().describe(
    'Sum of all rows that match the filter, in atomic USDC. Null where matching_count is null.',
  ),
  window: z.literal('prepaid_ceiling'),
  cap: Atomic.nullable().describe('Budget Y; null is unlimited.'),
  spent: Atomic,
  remaining: Atomic.nullable(),
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
  alerts: z.array(BookAlertAnswer).describe('The newest, newest first.'),
});

nameComponents({ Book: BookAnswer, BookEntry: Row });
