import { z } from 'zod';
import { ReceiptKeyNoun } from '../book/receipt-key.ts';
import { routerLimits } from '../limits.ts';
import { AtomicMember, sizedList, TimeMember, word } from '../noun.ts';
import type { WordOf, Words } from '../words.ts';
import { NOT_SETTLED_HERE } from './work-report.ts';

/* Router books and reported generations as they are shown. */

export const routerLookUps = {
  graph: 'RouterLookUp',
  description: 'Result of asking the router about a generation.',
  meanings: {
    matched: 'The router names the same id, the same model, and a cost less than a millionth of a dollar away.',
    matched_before: 'The router was not asked: it had confirmed this generation before.',
    no_key: 'The router was not asked: the router book keeps no key, or this service has no router configured.',
    resting:
      'The router was not asked: too many look-ups for this router book did not match in this clock hour. Report the generation again in the next hour.',
    not_found: 'The router has no such generation, or does not show it to the router key that the router book keeps.',
    other_generation: 'The router answered with another generation than was reported.',
    other_model: 'The router names another model than was reported.',
    other_amount: 'The router names another cost than was reported.',
    failed:
      'The router was not reached, did not answer in time, or its answer was an error or could not be read. Report the generation again.',
  },
} as const satisfies Words;
export type RouterLookUp = WordOf<typeof routerLookUps>;

const attestation_note = z.literal(NOT_SETTLED_HERE).describe('Statement of what this service does not attest to.');
const Dollars = AtomicMember.describe('Amount in millionths of a dollar (atomic USDC).');

const book = {
  book_id: z.string().describe('Id of the router book.'),
  agent_id: z
    .int()
    .nullable()
    .describe('Id of the agent on whose book each generation is recorded, too. Null if none was named.'),
  label: z.string().nullable().describe('Name that its owner gave the router book. Null if none.'),
};

export const OpenedRouterBookNoun = z.object({
  ...book,
  ingest_key: z
    .string()
    .describe(
      'Key of the router book, sent as `Authorization: Bearer` to its other endpoints. It is shown here and never again.',
    ),
  opened_at: TimeMember.describe('Time the router book was opened (RFC 3339, UTC).'),
  attestation_note,
});

export const KeptRouterKeyNoun = z.object({
  book_id: book.book_id,
  has_router_key: z.literal(true).describe('Always true: the router book keeps the key now.'),
  set_at: TimeMember.describe('Time the key was set (RFC 3339, UTC).'),
});

export const BroadcastGenerationNoun = z.object({
  book_id: book.book_id,
  generation_id: z.string().describe('Id of the generation, as the router names it.'),
  task_id: z.string().describe('Task id of the receipt of the generation.'),
  verify_url: z.string().describe('URL of the public page of the receipt.'),
  model: z.string().describe('Model, as reported.'),
  amount: Dollars.describe('Cost as reported, in millionths of a dollar (atomic USDC).'),
  rail: z.string().describe('Rail of the payment, as reported, such as `credits` or `usdc`.'),
  payment_ref: z
    .string()
    .nullable()
    .describe(
      'Payment, as reported: `network:transaction` or any other reference. It proves nothing, and other records may name the same payment. Null if none was named.',
    ),
  verified_with: z
    .string()
    .nullable()
    .describe(
      'Host of the router that, asked with the key of the book, reported the same id, the same model and a cost less than a millionth of a dollar away. Null if the router has not confirmed them. The router does not confirm rail and payment_ref. The receipt has this host only if the router had confirmed when the receipt was signed.',
    ),
  look_up: word(routerLookUps).describe(
    'Result of asking the router during this request, such as `matched` or `not_found`. If it is `failed`, report the generation again; if it is `resting`, in the next hour.',
  ),
  idempotent_replay: z.boolean().describe('True if the same generation was reported before.'),
  reported_at: TimeMember.describe('Time the generation was first reported (RFC 3339, UTC).'),
  attestation_note,
});

/** Members of a generation that only the graph shows. */
export const GenerationOnGraph = z.object({
  receipt: ReceiptKeyNoun.describe('Receipt of the generation. It signs what was reported, and no payment.'),
});

export const RouterRailSumNoun = z.object({
  rail: z
    .string()
    .describe('Rail of the payments, as it was reported with the key of the router book, such as `credits`.'),
  count: z.int().describe('Number of verified generations.'),
  amount: Dollars.describe('Sum of the costs of the verified generations, in millionths of a dollar (atomic USDC).'),
});

export const RouterBookSummaryNoun = z.object({
  ...book,
  has_router_key: z.boolean().describe('True if the router book keeps a key of the router.'),
  count: z.int().describe('Number of verified generations. Others are not counted.'),
  amount: Dollars.describe('Sum of the costs of the verified generations, in millionths of a dollar (atomic USDC).'),
  by_rail: sizedList(RouterRailSumNoun, routerLimits.summary_rails_max).describe(
    `Verified generations by rail: the ${routerLimits.summary_rails_max} rails with the most generations, the most first.`,
  ),
  by_rail_truncated: z.boolean().describe('True if there are rails that by_rail does not show.'),
  attestation_note,
});
