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

/** Why there is no score: there are no posts, or none of them has weight. */
export const unscoredReasons = ['no_reports', 'no_accepted_evidence'] as const;
export type UnscoredReason = (typeof unscoredReasons)[number];

const Reports = z.int().describe('Number of counted posts of this kind.');

const MoveCost = z
  .object({
    spent: AtomicMember.describe(
      'Lowest amount that payers must spend at the endpoint, in atomic USDC. The owner of the endpoint receives it.',
    ),
    clusters: z.int().describe('Number of payers needed, no two of which have a common funder.'),
    stamps: AtomicMember.describe(
      'Price of the stamps in atomic USDC: one stamp for each of the `clusters` payers, who post once each.',
    ),
  })
  .nullable()
  .describe(
    'Cost of moving the score by `move_bp` in this direction. Null if no amount moves it that far, or if there is no score.',
  );

/** A score with everything that it was computed from. */
export const EndpointScoreNoun = z.object({
  schema: z.literal(documents.endpoint_score).describe(`Always \`${documents.endpoint_score}\`.`),
  endpoint_host: z.string().describe('Host that is scored, as URLs spell it.'),
  rule_version: z.literal(3).describe('Version of the rule that computed the score.'),
  status: z
    .enum(['scored', 'unscored'])
    .describe('`scored`, or `unscored` if no post about the host rests on evidence that the rule accepts.'),
  score_bp: z
    .int()
    .min(0)
    .max(scoreLimits.score_bp_max)
    .nullable()
    .describe(
      `Score in basis points, 0 to ${scoreLimits.score_bp_max}: part of the weight that speaks for the endpoint. The weight includes the prior of \`weights\`. Null if there is no score.`,
    ),
  unscored_because: z
    .enum(unscoredReasons)
    .nullable()
    .describe('Why there is no score: `no_reports` or `no_accepted_evidence`. Null if there is a score.'),
  unscored_reason: z.string().nullable().describe('`unscored_because` as a sentence. Null if there is a score.'),
  counts: z
    .object({
      posts: z
        .int()
        .describe(`Number of posts that \`counts\` covers: the newest, up to ${scoreLimits.reports_counted_max}.`),
      complete: z
        .boolean()
        .describe('True if `counts` covers all posts about the host. False if older ones are left out.'),
      by_outcome: z
        .object({ success: Reports, error: Reports, double_charge: Reports, price_jump: Reports })
        .describe('Number of counted posts by outcome.'),
      by_backing: z
        .object({ 'spend-backed': Reports, 'stamp-backed': Reports })
        .describe('Number of counted posts by backing.'),
      confirms: z.int().describe('Number of confirmations of the counted posts by other agents.'),
    })
    .describe(
      `What was reported about the host, in the newest ${scoreLimits.reports_counted_max} posts, including those that have no weight in the score.`,
    ),
  as_of_block: z
    .int()
    .nullable()
    .describe('Last block of Base in which the funding of payers was looked up. Null if none was.'),
  rows_max: z
    .int()
    .describe('Maximum number of posts that can have weight. Of more, those with the highest amounts are taken.'),
  rows_per_payer_max: z.int().describe('Maximum number of posts of one payer that can have weight.'),
  rows_free: z
    .int()
    .min(0)
    .describe('Number of further posts that can have weight before each new one displaces another.'),
  weights: JsonMember.describe(
    'Weights and limits of the rule, by name: amounts in atomic USDC, names with `_bp` in basis points.',
  ),
  rows: z
    .array(
      z.object({
        post_id: z.string().describe('Id of the post.'),
        outcome: word(postOutcomes),
        amount: AtomicMember.describe('Amount of the backing receipt, in atomic units of `rail`.'),
        rail: z.string().describe('Rail of the cited receipt or, without one, of the stamp: `usdc` or `xno`.'),
        backing: z
          .enum(postBackings)
          .describe(
            '`spend-backed` if the post cites a receipt of a payment to somebody other than its payer and its author; otherwise `stamp-backed`.',
          ),
        host_basis: word(hostBases),
        paid_here: z
          .boolean()
          .describe('True if the post cites a receipt of a payment to this service. Only such posts can have weight.'),
        proven: z
          .boolean()
          .describe(
            'True if the issuer has seen the payment of the cited receipt on its chain and its payer is proven.',
          ),
        self_dealt: z
          .boolean()
          .describe(
            'True if the payee is the payer, the author or a known funder of the payer, or if payer or author is this service.',
          ),
        payer: z
          .string()
          .nullable()
          .describe(
            'Pseudonym of the wallet that paid: `wallet_` and 32 hex digits of a SHA-256. Null if `proven` is false.',
          ),
        cluster: z
          .string()
          .nullable()
          .describe('Id of the cluster of the payer, as in `clusters`. Null if the post has no weight.'),
        zero_because: z
          .enum(zeroReasons)
          .nullable()
          .describe('Why the post has no weight, as a code; the first reason that applies. Null if it has weight.'),
      }),
    )
    .describe(
      'Posts that the rule has judged, newest first: those that can have weight and, of the newest `rows_max` posts, those that cannot.',
    ),
  clusters: z
    .array(
      z.object({
        cluster: z.string().describe('Id of the cluster: `cluster_` and 24 hex digits.'),
        payers: z.int().describe('Number of wallets in the cluster that paid for its posts.'),
        posts: z.int().describe('Number of posts with weight by payers of the cluster.'),
        weight: AtomicMember.describe(
          'Weight of the cluster in the score, in atomic USDC: the amounts of its posts, up to `cluster_amount_max` in `weights`.',
        ),
        good: AtomicMember.describe('Part of `weight` that reports success, in atomic USDC.'),
      }),
    )
    .describe(
      'Clusters of payers: payers that fund each other or share a funder, within the limits in `weights`, are one cluster; any other payer is its own.',
    ),
  edges: z
    .array(
      z.object({
        funder: z.string().describe('Pseudonym of the wallet that sent USDC: `wallet_` and 32 hex digits.'),
        payer: z.string().describe('Pseudonym of the payer, as in `rows`.'),
        amount: AtomicMember.nullable().describe(
          'Amount that the funder sent to the payer in the searched blocks, in atomic USDC. Null if an early search did not record it. No payers are merged if this is null, below `funder_amount_min`, or below `funder_paid_part_min_bp` (basis points) of the largest payment of the payer that has weight; both minimums are in `weights`.',
        ),
        funded_wallets: z
          .int()
          .nullable()
          .describe(
            'Number of wallets to which the funder sent USDC in the searched blocks, counted up to one more than `funder_wallets_max` in `weights`. Null if it could not be counted.',
          ),
      }),
    )
    .describe(
      'Funding of payers: one entry for each funder and payer, with the USDC that the funder sent on Base in the searched blocks.',
    ),
  edges_hash: z
    .string()
    .regex(/^[0-9a-f]{64}$/)
    .describe('SHA-256, in hex, of the canonical JSON (RFC 8785) of the edges, sorted by their own canonical JSON.'),
  looks: z
    .array(
      z.object({
        payer: z.string().describe('Pseudonym of the payer, as in `rows`.'),
        known: z
          .boolean()
          .describe(
            'True if the search for the funders of the payer is complete. False if it is pending or was given up.',
          ),
        from_block: z.int().nullable().describe('First block of Base of the search. Null if the search has not begun.'),
        to_block: z.int().nullable().describe('Last block of Base of the search. Null if the search has not begun.'),
      }),
    )
    .describe('Searches on Base for the funders of the payers: one for each payer.'),
  payers_unknown: z
    .int()
    .describe(
      'Number of payers whose funders are not known. Each can share a cluster only through payers that it has funded.',
    ),
  cost_to_move: z
    .object({
      move_bp: z.int().describe('Change of `score_bp` whose cost is stated, in basis points.'),
      up: MoveCost,
      down: MoveCost,
    })
    .describe(
      '`{move_bp, up, down}`: lowest cost, in atomic USDC, of moving the score up or down by `move_bp` basis points. `up` or `down` is null if no amount does, or if there is no score.',
    ),
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
      'The score, all inputs of its rule, and the lowest cost of changing the score. The score can be computed again from the inputs.',
    ),
  ),
});
