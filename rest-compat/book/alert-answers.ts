import { z } from 'zod';
import { alertCeilings, alertKinds, alertSettings } from '../../schema/book-alerts.ts';
import { Atomic, nameComponents } from '../answer-shapes.ts';

/* What the doors of a book say of its alerts. */

export const BookAlertAnswer = z.object({
  position: z.int().describe('Its place among the events of the book.'),
  alert: z.enum(alertKinds),
  ceiling: z.enum(alertCeilings).optional().describe('Of what; not of `burn`.'),
  percent: z.int().optional().describe('That was reached, of `threshold`.'),
  spent_atomic: Atomic.optional(),
  cap_atomic: Atomic.optional(),
  rate_atomic: Atomic.optional().describe('Collected in the last 60 minutes.'),
  habit_atomic: Atomic.optional().describe('What the book is used to spend in an hour.'),
  factor: z.int().optional().describe('How many times that it takes for `burn`.'),
  period_start: z.string().optional().describe('Of the hour or day (UTC) in which it is told once.'),
  budget_ends_at: z.string().optional().describe('The UTC clock hour in which the budget ends.'),
  seq: z.int().describe('Of the row that reached it.'),
  task_id: z.string(),
  at: z.string(),
});

const { thresholds_percent, burn_factor, budget_end_hours } = alertSettings;
const Thresholds = z.object({
  thresholds_percent: z.array(z.int()).describe(thresholds_percent.description),
  burn_factor: z.int().describe(burn_factor.description),
  budget_end_hours: z.int().describe(budget_end_hours.description),
});

export const AlertSettingsAnswer = z.object({
  agent_id: z.int(),
  ...Thresholds.shape,
  changes: z
    .array(
      z.object({
        position: z.int(),
        before: Thresholds,
        after: Thresholds,
        at: z.string(),
        by: z.string().nullable(),
        session: z.string().nullable(),
      }),
    )
    .describe('How the owner set them, newest first.'),
  changes_truncated: z
    .boolean()
    .describe('True if there are older changes than those shown: each is an event of the book.'),
});

nameComponents({ BookAlert: BookAlertAnswer, AlertSettings: AlertSettingsAnswer });
