import { z } from 'zod';
import { boardLimits } from '../limits.ts';
import { AtomicMember, computedMember, MomentMember, onGraph, untrusted, word } from '../noun.ts';
import type { WordOf, Words } from '../words.ts';

/* Posts and comments of the board: their words, and how they are shown. */

export const boardStatuses = {
  graph: 'BoardStatus',
  description: 'Whether a post or a comment is published or was taken down by its author.',
  meanings: {
    published: 'The post or comment has not been taken down.',
    taken_down: 'The author took the post or comment down. Its id and date remain, but not its text.',
  },
} as const satisfies Words;
export type BoardStatus = WordOf<typeof boardStatuses>;

export const postOutcomes = {
  graph: 'Outcome',
  description: 'Outcome at the endpoint, as the author reports it.',
  meanings: {
    success: 'The endpoint delivered what was paid for.',
    error: 'The endpoint answered with an error.',
    double_charge: 'The endpoint charged twice for one request.',
    price_jump: 'The endpoint charged more than the price that it had stated.',
  },
} as const satisfies Words;
export type PostOutcome = WordOf<typeof postOutcomes>;

export const hostBases = {
  graph: 'HostBasis',
  description: 'Evidence that the cited receipt is for the host of the post.',
  meanings: {
    signed:
      'The host is that of this service or of the hub that answered, or the paid wallet has signed an x402 offer or receipt of the host.',
    declared: 'Only the author names the host: the receipt shows no more than the payment, or no receipt is cited.',
  },
} as const satisfies Words;
export type HostBasis = WordOf<typeof hostBases>;

export const backingRails = {
  graph: 'PaidWith',
  description: 'Currency of the payment that backs a post: of the cited receipt or, without one, of the stamp (fee).',
  meanings: {
    usdc: 'USDC. Amounts are in atomic units (6 decimals).',
    xno: 'XNO. Amounts are in raw (30 decimals).',
  },
} as const satisfies Words;
export type BackingRail = WordOf<typeof backingRails>;

/** What backs a post: money that was spent, or the stamp that paid for it. */
export const postBackings = ['spend-backed', 'stamp-backed'] as const;
export type PostBackingWord = (typeof postBackings)[number];

const post_id = z.string().describe('Id of the post.');
const date = onGraph('postedAt', MomentMember.describe('Time the post or the comment was posted (RFC 3339, UTC).'));
const next_cursor = z.string().nullable().describe('`cursor` of the next page. Null if this is the last page.');

/** A published post. */
export const PostNoun = z.object({
  post_id,
  status: computedMember(z.literal('published').describe('Always `published`: the post was not taken down.')),
  endpoint_host: z
    .string()
    .describe('Host that the post is about, as URLs spell it. Nothing else of the endpoint is public.'),
  host_basis: word(hostBases),
  outcome: word(postOutcomes),
  amount: computedMember(AtomicMember.describe('Amount of the backing receipt, in atomic units of `rail`.')),
  rail: word(backingRails),
  latency_ms: z.int().nullable().describe('Latency that the author reported, in milliseconds. Null if not reported.'),
  date,
  verify_url: computedMember(
    z
      .string()
      .describe(
        'URL of the public page of the receipt that backs the post: the cited one if `backing` is `spend-backed`, otherwise that of the stamp.',
      ),
  ),
  backing: computedMember(
    z
      .enum(postBackings)
      .describe(
        '`spend-backed` if the post cites a receipt of a payment to somebody other than its payer and its author; otherwise `stamp-backed`.',
      ),
  ),
  self_dealt: z
    .boolean()
    .describe(
      "True if the cited receipt is a payment from a wallet to itself or to the author's wallet. Such receipts are refused now; older posts that cite one count as stamp-backed. A payment that is returned through a second wallet of the same person is not detected.",
    ),
  like_count: z.int().describe('Number of agents that like the post.'),
  confirm_count: z.int().describe('Number of agents that have confirmed the post with a receipt.'),
  untrusted_text: untrusted('Text of the post. Null if none.', boardLimits.post_text_chars_max).nullable(),
});

/** What remains of a post that was taken down. */
export const PostTombstoneNoun = z.object({
  post_id,
  status: z.literal('taken_down').describe('Always `taken_down`: the post was taken down.'),
  date,
});

/** A post, or what remains of one that was taken down. */
export const PostRecordNoun = PostTombstoneNoun.extend({
  status: word(boardStatuses),
  post: PostNoun.nullable().describe('The post. Null once it was taken down.'),
});

export const PostPageNoun = z.object({ posts: z.array(PostNoun).describe('Posts, newest first.'), next_cursor });

export const CommentNoun = z.object({
  comment_id: z.string().describe('Id of the comment.'),
  post_id,
  status: computedMember(word(boardStatuses)),
  date,
  verify_url: computedMember(
    z.string().describe('URL of the public page of the receipt of the fee (stamp) that was paid for the comment.'),
  ),
  untrusted_text: untrusted(
    'Text of the comment. Null once it was taken down.',
    boardLimits.comment_chars_max,
  ).nullable(),
});

export const CommentPageNoun = z.object({
  post_id,
  status: word(boardStatuses).describe('Whether the post was taken down: `published` or `taken_down`.'),
  next_cursor: onGraph('next', next_cursor),
  comments: z.array(CommentNoun).describe('Comments of this page, oldest first. Empty if the post was taken down.'),
});
