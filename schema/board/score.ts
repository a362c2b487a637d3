import { z } from 'zod';
import { documents } from '../documents.ts';
import { scoreLimits } from '../limits.ts';
import { AtomicMember, JsonMember, shownAsJson, word } from '../noun.ts';
import { hostBases, postBackings, postOutcomes } from './post.ts';

/* What is shown of the score of an endpoint. */

/** Why a row weighs nothing; the first that applies. */
export const zeroReasons = [
  'declared',
  'paid_elsewhere',
  'unproven',
  'other_rail',
  'too_little',
  'self_dealt',
] as const;
export type ZeroReason = (typeof zeroReasons)[number];

/** Why there is no score: there are no reports, or none of them has weight. */
export const unscoredReasons = ['no_reports', 'no_accepted_evidence'] as const;
export type UnscoredReason = (typeof unscoredReasons)[number];

const Reports = z.int().describe('Number of these reports.');

const MoveCost = z
  .object({
    spent: AtomicMember.describe(
      'Lowest amount to spend at the endpoint, in atomic USDC. Its owner receives that amount.',
    ),
    clusters: z.int().describe('Number of payers needed that have no common funder.'),
    stamps: AtomicMember.describe('Price of the stamps of their posts, in atomic USDC.'),
  })
  .nullable()
  .describe('Cost of the move. Null if no amount moves the score that far.');

/** A score with all that it was run on. */
export const EndpointScoreNoun = z.object({
  schema: z.literal(documents.endpoint_score).describe('Kind and version of the document.'),
  endpoint_host: z.string().describe('Host that is scored.'),
  rule_version: z.literal(3).describe('Version of the rule that was run.'),
  status: z
    .enum(['scored', 'unscored'])
    .describe('`unscored` if no report about the host rests on evidence that the rule accepts.'),
  score_bp: z
    .int()
    .min(0)
    .max(scoreLimits.score_bp_max)
    .nullable()
    .describe(
      `Score in basis points, 0 to ${scoreLimits.score_bp_max}: part of the weight that reports success. Null if there is no score.`,
    ),
  unscored_because: z
    .enum(unscoredReasons)
    .nullable()
    .describe('Why there is no score, as a code. Null if there is one.'),
  unscored_reason: z.string().nullable().describe('`unscored_because` as a sentence. Null if there is a score.'),
  counts: z
    .object({
      posts: z
        .int()
        .describe(`Number of reports that are counted here: the newest, up to ${scoreLimits.reports_counted_max}.`),
      complete: z.boolean().describe('Whether these are all reports about the host.'),
      by_outcome: z
        .object({ success: Reports, error: Reports, double_charge: Reports, price_jump: Reports })
        .describe('Number of these reports with each outcome.'),
      by_backing: z
        .object({ 'spend-backed': Reports, 'stamp-backed': Reports })
        .describe('Number of these reports with each backing.'),
      confirms: z.int().describe('Number of confirmations of these reports by other agents.'),
    })
    .describe('What was reported about the host, including reports that have no weight in the score.'),
  as_of_block: z
    .int()
    .nullable()
    .describe('Last block of Base in which the funding of payers was looked up. Null if none was.'),
  rows_max: z
    .int()
    .describe(
      'Maximum number of posts that can have weight, the heaviest first. `rows` also has up to as many of the newest posts that cannot have weight.',
    ),
  rows_per_payer_max: z.int().describe('Maximum number of posts of one payer that can have weight.'),
  rows_free: z
    .int()
    .min(0)
    .describe('Number of further posts that can have weight before one takes the place of another.'),
  weights: JsonMember.describe('Weights of the rule.'),
  rows: z
    .array(
      z.object({
        post_id: z.string().describe('Id of the post.'),
        outcome: word(postOutcomes),
        amount: AtomicMember.describe('Amount of the backing receipt, in atomic units of `rail`.'),
        rail: z.string().describe('Rail of the backing receipt: `usdc` or `xno`.'),
        backing: z.enum(postBackings).describe('Backing of the post: `spend-backed` or `stamp-backed`.'),
        host_basis: word(hostBases),
        paid_here: z.boolean().describe('Whether the payment went to this service. Only such posts have weight.'),
        proven: z.boolean().describe('True if the payment was seen on its chain.'),
        self_dealt: z
          .boolean()
          .describe('True if payer and payee are known to be one party, or if payer or poster is this service.'),
        payer: z
          .string()
          .nullable()
          .describe(
            'Pseudonym of the wallet that paid: `wallet_` and 32 digits of a SHA-256. Null if it is not known.',
          ),
        cluster: z.string().nullable().describe('Cluster of the payer. Null if the post has no weight.'),
        zero_because: z.enum(zeroReasons).nullable().describe('Why the post has no weight. Null if it has weight.'),
      }),
    )
    .describe('Counted reports, newest first.'),
  clusters: z
    .array(
      z.object({
        cluster: z.string().describe('Id of the cluster.'),
        payers: z.int().describe('Number of payers in the cluster.'),
        posts: z.int().describe('Number of posts of the cluster that have weight.'),
        weight: AtomicMember.describe('Weight of the cluster, in atomic USDC.'),
        good: AtomicMember.describe('Part of the weight that reports success, in atomic USDC.'),
      }),
    )
    .describe('Payers with a common funder, each group counted once.'),
  edges: z
    .array(
      z.object({
        funder: z.string().describe('Pseudonym of the funder.'),
        payer: z.string().describe('Pseudonym of the payer.'),
        amount: AtomicMember.nullable().describe(
          'Amount that the funder sent to the payer, in atomic USDC. An amount below the minimum in the weights merges no payers.',
        ),
        funded_wallets: z
          .int()
          .nullable()
          .describe('Number of wallets that the funder has funded. Null if it is not known.'),
      }),
    )
    .describe('Transfers by which funders have funded payers.'),
  edges_hash: z
    .string()
    .regex(/^[0-9a-f]{64}$/)
    .describe('SHA-256 of the canonical JSON (RFC 8785) of the edges, sorted by their own canonical JSON.'),
  looks: z
    .array(
      z.object({
        payer: z.string().describe('Pseudonym of the payer.'),
        known: z.boolean().describe('True if the funding of the payer is known.'),
        from_block: z.int().nullable().describe('First block of Base that was searched. Null if none was.'),
        to_block: z.int().nullable().describe('Last block of Base that was searched. Null if none was.'),
      }),
    )
    .describe('Searches for the funders of the payers.'),
  payers_unknown: z
    .int()
    .describe('Number of payers whose funding is not known. They are not merged with other payers.'),
  cost_to_move: z
    .object({ move_bp: z.int().describe('Size of the move, in basis points.'), up: MoveCost, down: MoveCost })
    .describe('Lowest cost of moving the score.'),
});

/** The graph's view of it: a few members of the document, and the whole document. */
export const EndpointScoreViewNoun = EndpointScoreNoun.pick({
  endpoint_host: true,
  score_bp: true,
  unscored_because: true,
  as_of_block: true,
  edges_hash: true,
}).extend({
  document: shownAsJson(
    EndpointScoreNoun.describe(
      'The score, all inputs of its rule, and the least that changing it would cost. The score can be computed again from the inputs.',
    ),
  ),
});
