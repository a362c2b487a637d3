import { z } from 'zod';
import { routerLimits } from '../../schema/limits.ts';
import { NOT_SETTLED_HERE } from '../../schema/router/reported.ts';
import { Atomic, nameComponents } from '../answer-shapes.ts';

/* What the doors of router books answer, as it looks on the wire. */

const attestation_note = z.literal(NOT_SETTLED_HERE);
const Dollars = Atomic.describe('Millionths of a dollar (atomic USDC).');
const agent_id = z.int().nullable().describe('The agent on whose book it lands, too; null where none was named.');

export const OpenedRouterBookAnswer = z.object({
  book_id: z.string(),
  agent_id,
  label: z.string().nullable(),
  ingest_key: z
    .string()
    .describe('Shown once. It is sent as `Authorization: Bearer` to the other endpoints of router books.'),
  opened_at: z.string(),
  attestation_note,
});

export const KeptRouterKeyAnswer = z.object({
  book_id: z.string(),
  has_router_key: z.literal(true),
  set_at: z.string(),
});

export const BroadcastAnswer = z.object({
  book_id: z.string(),
  generation_id: z.string(),
  task_id: z.string().describe('Of its receipt.'),
  verify_url: z.string().describe('Public receipt page.'),
  model: z.string(),
  amount: Dollars,
  rail: z.string().describe('As it was reported.'),
  payment_ref: z.string().nullable().describe('As it was reported: it takes no reference and proves nothing.'),
  verified_with: z
    .string()
    .nullable()
    .describe(
      "The host of the router which, asked under the book's own key, told the same id, the same model and a cost less than one millionth of a dollar away; null while none has. It tells nothing of rail and payment_ref. The receipt signs it only where it was so by then.",
    ),
  look_up: z
    .enum([
      ...(['matched', 'matched_before', 'no_key', 'resting', 'not_found'] as const),
      ...(['other_generation', 'other_model', 'other_amount', 'failed'] as const),
    ])
    .describe('What came of asking the router now; where it failed, broadcast again.'),
  idempotent_replay: z.boolean().describe('The same was broadcast before.'),
  reported_at: z.string(),
  attestation_note,
});

const RailSum = z.object({ rail: z.string(), count: z.int(), amount: Dollars });

export const RouterSummaryAnswer = z.object({
  book_id: z.string(),
  agent_id,
  label: z.string().nullable(),
  has_router_key: z.boolean(),
  count: z.int().describe('Verified generations; what no look-up has found is counted nowhere.'),
  amount: Dollars,
  by_rail: z
    .array(RailSum)
    .describe(`The ${routerLimits.summary_rails_max} rails with the most of them, as they were reported.`),
  by_rail_truncated: z.boolean().describe('True if there are rails that by_rail does not show.'),
  attestation_note,
});

// As the graph names them.
nameComponents({
  OpenedRouterBook: OpenedRouterBookAnswer,
  KeptRouterKey: KeptRouterKeyAnswer,
  BroadcastGeneration: BroadcastAnswer,
  RouterRailSum: RailSum,
  RouterBookSummary: RouterSummaryAnswer,
});
