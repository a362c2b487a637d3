import { z } from 'zod';
import { evidences } from '../evidence.ts';
import { lineageLimits } from '../limits.ts';
import { AtomicMember, sizedList, TimeMember, word } from '../noun.ts';

/* Lineage of a row: its ancestors and descendants. */

const { steps_max, descendants_max } = lineageLimits;
const HERE = 'Null or absent if the row is not on this book.';
const NONE = 'Null or absent if there is none, and for a row that is not on this book.';

/** A row in a lineage. REST leaves out null members. Of a row on another book only the task is shown. */
export const LineageRowNoun = z.object({
  task_id: z.string().describe('Task id of the row.'),
  on_other_book: z
    .boolean()
    .describe(
      'True if the row is on another book, like the parent of a redeemed hand-off; then only its task id and `depth` are shown. False for a row of this book, and for a parent that is on no book.',
    ),
  seq: z.int().optional().describe(`Number of the row in its book, from 1. ${HERE}`),
  depth: z.int().describe('Number of steps from `self`, up to an ancestor or down to a descendant. 0 for `self`.'),
  parent_ref: z.string().optional().describe(`Task id of the parent row. ${NONE}`),
  evidence: word(evidences).optional().describe(`Evidence that the row rests on. ${HERE}`),
  collected: z
    .boolean()
    .optional()
    .describe(`True if the payment was collected or, for an ingested payment, if its payer is proven. ${HERE}`),
  collected_at: TimeMember.optional().describe(
    `Time the row was recorded (RFC 3339, UTC); for a call that was paid before the book existed, the time of its receipt. ${HERE}`,
  ),
  amount: AtomicMember.optional().describe(`Amount in atomic units of the rail. ${NONE}`),
  rail: z.string().optional().describe(`Rail of the payment: \`usdc\` or \`xno\`. ${NONE}`),
  payment_ref: z.string().optional().describe(`Payment as \`network:transaction\`. ${NONE}`),
  model: z.string().optional().describe(`Model that the hub was asked for. ${NONE}`),
  hub: z
    .string()
    .optional()
    .describe(
      `Hub that answered. For a payment to somebody else and for an inflow, the hub as the owner of the book named it. ${NONE}`,
    ),
  intent_id: z.string().optional().describe(`Id of the intent that the row names. ${NONE}`),
  attempt_index: z.int().optional().describe(`Number of the attempt at the intent, from 0. ${NONE}`),
});

export const LineageNoun = z.object({
  agent_id: z.int().describe('Id of the agent whose book it is.'),
  self: LineageRowNoun.describe('The row that was requested.'),
  root: LineageRowNoun.nullable().describe(
    `Root of the chain of parents; this row itself if it has no parent. Null if the root is more than ${steps_max} steps up, or if the chain leads to a parent that is not on this book.`,
  ),
  ancestors: sizedList(LineageRowNoun, steps_max).describe(
    `Ancestors by parent_ref, nearest first; at most ${steps_max}. The last one may be on another book.`,
  ),
  descendants: z.array(LineageRowNoun).describe('Descendants of the row on this page, in the order of the book.'),
  truncated: z
    .boolean()
    .describe(
      `True if there are more than ${steps_max} steps up or down, or more than ${descendants_max} descendants.`,
    ),
  next: z.int().nullable().describe('`after` of the next page of descendants. Null if this is the last page.'),
});
