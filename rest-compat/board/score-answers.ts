import { z } from 'zod';
import { documents } from '../../schema/documents.ts';
import { scoreLimits } from '../../schema/limits.ts';
import { Atomic, JsonMembers, nameComponents } from '../answer-shapes.ts';
import { Hash } from '../receipt/signed-receipt.ts';

const MoveCost = z
  .object({
    spent: Atomic.describe('At the endpoint, atomic USDC, at least: whoever owns it gets that back.'),
    clusters: z.int().describe('Of how many payers that nobody has funded together.'),
    stamps: Atomic.describe('Of their posts, beside it.'),
  })
  .nullable()
  .describe('Null: no amount moves it so far that way.');

/** A score with all that it was run on. */
export const EndpointScoreAnswer = z.object({
  schema: z.literal(documents.endpoint_score),
  endpoint_host: z.string(),
  rule_version: z.literal(2).describe('Version of the rule that was run.'),
  status: z
    .enum(['scored', 'unscored'])
    .describe('`unscored` if no report about the host rests on evidence that the rule accepts.'),
  score_bp: z.int().min(0).max(10_000).nullable().describe('Score in basis points. Null if `unscored`.'),
  unscored_because: z
    .enum(['no_reports', 'no_accepted_evidence'])
    .nullable()
    .describe('Why there is no score. Null if `scored`.'),
  unscored_reason: z.string().nullable().describe('`unscored_because` as a sentence. Null if `scored`.'),
  counts: z
    .object({
      posts: z
        .int()
        .describe(`Number of reports that are counted here: the newest, up to ${scoreLimits.reports_counted_max}.`),
      complete: z.boolean().describe('Whether these are all reports about the host.'),
      by_outcome: z.object({ success: z.int(), error: z.int(), double_charge: z.int(), price_jump: z.int() }),
      by_backing: z.object({ 'spend-backed': z.int(), 'stamp-backed': z.int() }),
      confirms: z.int().describe('Number of confirmations of these reports by other agents.'),
    })
    .describe('What was reported about the host, including reports that have no weight in the score.'),
  as_of_block: z.int().nullable().describe('The last block of Base that any of it was looked at in.'),
  rows_max: z
    .int()
    .describe(
      'So many of the standing posts that can weigh have a place, the heaviest first; of so many of the newest, those that cannot are shown beside them.',
    ),
  rows_per_payer_max: z.int().describe('Of those that can weigh, so many of one payer.'),
  rows_free: z.int().min(0).describe('How many more can weigh before one takes the place of another.'),
  weights: JsonMembers.describe('What the rule weighs by.'),
  rows: z
    .array(
      z.object({
        post_id: z.string(),
        outcome: z.enum(['success', 'error', 'double_charge', 'price_jump']),
        amount: Atomic,
        rail: z.string(),
        backing: z.enum(['spend-backed', 'stamp-backed']),
        host_basis: z.enum(['signed', 'declared']),
        paid_here: z.boolean().describe('Whether its money came to this service: nothing else weighs.'),
        proven: z.boolean(),
        self_dealt: z.boolean(),
        payer: z.string().nullable().describe('A pseudonym: `wallet_` and 32 digits of a SHA-256.'),
        cluster: z.string().nullable().describe('Null where it weighs nothing.'),
        zero_because: z
          .enum(['declared', 'paid_elsewhere', 'unproven', 'other_rail', 'too_little', 'self_dealt'])
          .nullable(),
      }),
    )
    .describe('Newest first.'),
  clusters: z.array(z.object({ cluster: z.string(), payers: z.int(), posts: z.int(), weight: Atomic, good: Atomic })),
  edges: z.array(
    z.object({
      funder: z.string(),
      payer: z.string(),
      amount: Atomic.nullable().describe(
        'What it sent the payer, atomic USDC: less than the weights say merges nobody.',
      ),
      funded_wallets: z.int().nullable(),
    }),
  ),
  edges_hash: Hash.describe(
    'SHA-256 of the canonical JSON (RFC 8785) of the edges, sorted by their own canonical JSON.',
  ),
  looks: z.array(
    z.object({ payer: z.string(), known: z.boolean(), from_block: z.int().nullable(), to_block: z.int().nullable() }),
  ),
  payers_unknown: z.int().describe('Of whose funding nothing is known: they merge with nobody.'),
  cost_to_move: z.object({ move_bp: z.int(), up: MoveCost, down: MoveCost }),
});

nameComponents({ EndpointScore: EndpointScoreAnswer });
