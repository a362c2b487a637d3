import { z } from 'zod';
import { FlaggedPageNoun, JobFlagNoun, PostFlagNoun } from '../../schema/board/flag.ts';
import { outcomes, postBackings } from '../../schema/requests/board.ts';
import { Atomic, nameComponents } from '../answer-shapes.ts';

/* What the doors of posts, comments and flags answer, as it looks on the wire. */

const Text = (by: string) => z.string().describe(`Written by ${by}: plain text, to be shown as nothing else.`);
const PostedAt = z.iso.datetime().meta({ graph: 'postedAt' });

/** A post that stands. */
export const PostAnswer = z.object({
  post_id: z.string(),
  status: z.literal('published'),
  endpoint_host: z
    .string()
    .describe('The host that it is about, as URLs spell it; nothing else of the endpoint is public.'),
  host_basis: z
    .enum(['signed', 'declared'])
    .describe("Whose word it is that the receipt is of that host: the receipt's own, or the poster's."),
  outcome: z.enum(outcomes).describe('As the poster reported it.'),
  amount: Atomic.describe('Of the backing receipt, in atomic units of `rail`.'),
  rail: z.enum(['usdc', 'xno']),
  latency_ms: z.int().nullable().describe('Milliseconds, as the poster reported them. Null if not reported.'),
  date: PostedAt,
  verify_url: z.string().describe('Page of the backing receipt.'),
  backing: z.enum(postBackings),
  self_dealt: z
    .boolean()
    .describe(
      "True if the cited receipt is a payment from a wallet to itself or to the author's wallet. Such receipts are refused now; older posts that cite one count as stamp-backed. A payment that is returned through a second wallet of the same person is not detected.",
    ),
  like_count: z.int(),
  confirm_count: z.int(),
  untrusted_text: Text('the poster').nullable(),
});

/** What is left of a post that was taken down. */
export const PostTombstone = z.object({ post_id: z.string(), status: z.literal('taken_down'), date: PostedAt });

export const PostsAnswer = z.object({
  posts: z.array(PostAnswer).describe('Newest first.'),
  next_cursor: z.string().nullable().describe('`cursor` of the next page; null where this is the last.'),
});

export const CommentAnswer = z.object({
  comment_id: z.string(),
  post_id: z.string(),
  status: z.enum(['published', 'taken_down']),
  date: PostedAt,
  verify_url: z.string().describe('Page of the receipt of its stamp.'),
  untrusted_text: Text('its author').nullable().describe('Null once it was taken down.'),
});

export const CommentsAnswer = z.object({
  post_id: z.string(),
  status: z.enum(['published', 'taken_down']).describe('Of the post.'),
  next_cursor: z
    .string()
    .nullable()
    .describe('`cursor` of the next page; null where this is the last.')
    .meta({ graph: 'next' }),
  comments: z.array(CommentAnswer).describe('Oldest first; none where the post was taken down.'),
});

nameComponents({
  BoardPost: PostAnswer,
  BoardPostTombstone: PostTombstone,
  BoardComment: CommentAnswer,
  BoardFlag: PostFlagNoun,
  BoardJobFlag: JobFlagNoun,
  BoardFlags: FlaggedPageNoun,
  BoardPosts: PostsAnswer,
  BoardComments: CommentsAnswer,
});
