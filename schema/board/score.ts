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

/** Why there is no score: nobody has reported, or of what was reported no row weighs anything. */
export const unscoredReasons = ['no_reports', 'no_accepted_evidence'] as const;
export type UnscoredReason = (typeof unscoredReasons)[number];

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
  schema: z.literal(documents.endpoint_score),
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
    .describe('Score in basis points. Null if `unscored`.'),
  unscored_because: z.enum(unscoredReasons).nullable().describe('Why there is no score. Null if `scored`.'),
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
  as_of_block: z
    .int()
    .nullable()
    .describe('Last block of Base in which the funding of payers was looked up. Null if none was.'),
  rows_max: z
    .int()
    .describe(
      'Highest number of posts that can have weight, the heaviest first. As many of the newest posts are looked at for those that cannot.',
    ),
  rows_per_payer_max: z.int().describe('Highest number of posts of one payer that can have weight.'),
  rows_free: z
    .int()
    .min(0)
    .describe('Number of further posts that can have weight before one takes the place of another.'),
  weights: JsonMember.describe('Weights of the rule.'),
  rows: z
    .array(
      z.object({
        post_id: z.string(),
        outcome: word(postOutcomes),
        amount: AtomicMember,
        rail: z.string(),
        backing: z.enum(postBackings),
        host_basis: word(hostBases),
        paid_here: z.boolean().describe('Whether the payment went to this service. Only such posts have weight.'),
        proven: z.boolean(),
        self_dealt: z.boolean(),
        payer: z
          .string()
          .nullable()
          .describe(
            'Pseudonym of the wallet that paid: `wallet_` and 32 digits of a SHA-256. Null if it is not known.',
          ),
        cluster: z.string().nullable().describe('Cluster of the payer. Null if the post has no weight.'),
        zero_because: z.enum(zeroReasons).nullable(),
      }),
    )
    .describe('Counted reports, newest first.'),
  clusters: z.array(
    z.object({ cluster: z.string(), payers: z.int(), posts: z.int(), weight: AtomicMember, good: AtomicMember }),
  ),
  edges: z.array(
    z.object({
      funder: z.string(),
      payer: z.string(),
      amount: AtomicMember.nullable().describe(
        'Amount that the funder sent to the payer, in atomic USDC. An amount below the minimum in the weights merges no payers.',
      ),
      funded_wallets: z.int().nullable(),
    }),
  ),
  edges_hash: z
    .string()
    .regex(/^[0-9a-f]{64}$/)
    .describe('SHA-256 of the canonical JSON (RFC 8785) of the edges, sorted by their own canonical JSON.'),
  looks: z.array(
    z.object({ payer: z.string(), known: z.boolean(), from_block: z.int().nullable(), to_block: z.int().nullable() }),
  ),
  payers_unknown: z
    .int()
    .describe('Number of payers whose funding is not known. They are not merged with other payers.'),
  cost_to_move: z.object({ move_bp: z.int(), up: MoveCost, down: MoveCost }),
});

/** The same as the graph has it: a few members of the document, and all of it. */
export const EndpointScoreViewNoun = EndpointScoreNoun.pick({
  endpoint_host: true,
  score_bp: true,
  unscored_because: true,
  as_of_block: true,
  edges_hash: true,
}).extend({
  document: shownAsJson(
    EndpointScoreNoun.describe(
      'The score with all inputs of the rule, and what it costs to move it. By these inputs anybody can run the rule again.',
    ),
  ),
});
