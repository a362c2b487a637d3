import { z } from 'zod';
import { Atomic, JsonMembers, nameComponents } from '../answer-shapes.ts';
import { BookAlertAnswer } from './alert-answers.ts';
import { Row } from './row.ts';

export const BookAnswer = z.object({
  agent_id: z.int(),
  limit: z.int(),
  entries: z.array(Row),
  intents: z.record(
    z.string(),
    z.object({
      intent_id: z.string(),
      attempts: z.array(z.unknown()),
      collected_count: z.int(),
      blocked_count: z.int(),
    }),
  ),
  totals: z.object({ count: z.int(), usdc_sum: Atomic, by_rail: JsonMembers }),
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
