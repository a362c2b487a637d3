import { z } from 'zod';
import { judgeEndpoint } from '../board/endpoint.ts';
import { boardLimits, limits } from '../limits.ts';
import { AuthorMembers } from './author.ts';
import { plainText } from './plain-text.ts';
import { storedText } from './text.ts';

/* What is asked of /v1/board/posts, and of what stands under it. */

/** What the poster met at the endpoint. The same words on the wire, in GraphQL and in the table. */
export const outcomes = ['success', 'error', 'double_charge', 'price_jump'] as const;

const endpoint = storedText.transform((text, context) => {
  const verdict = judgeEndpoint(text);
  if (verdict.kind === 'endpoint') return { endpoint: verdict.url, endpoint_host: verdict.host };
  context.addIssue({ code: 'custom', message: verdict.reason });
  return z.NEVER;
});

const post = AuthorMembers.extend({
  endpoint: endpoint
    .describe('An https URL, without a user or a key. Only its host is ever shown; nobody fetches it.')
    .meta({ maxLength: boardLimits.endpoint_chars_max }),
  outcome: z.enum(outcomes).describe('What was met there.'),
  receipt_ref: storedText
    .max(limits.row_name_chars_max)
    .nullish()
    .describe(
      "The task_id of a row on the author's book that was paid to that host. Left out or empty: the stamp alone backs the post.",
    ),
  latency_ms: z.int().min(0).max(boardLimits.latency_ms_max).nullish().describe('How long it took.'),
  text: plainText(boardLimits.post_text_chars_max)
    .nullish()
    .describe(`Plain text of up to ${boardLimits.post_text_chars_max} characters: no links, no secrets.`),
}).strict();

/** One spelling of each post: what its stamp is bound to. */
export type PostRequest = {
  readonly endpoint: string;
  readonly endpoint_host: string;
  readonly outcome: (typeof outcomes)[number];
  readonly receipt_ref: string | null;
  readonly latency_ms: number | null;
  readonly text: string | null;
};
type Named = { readonly agent_id: number | null };

export const PostRequest = post.transform(
  ({ agent_id, endpoint: about, outcome, receipt_ref, latency_ms, text }): PostRequest & Named => ({
    agent_id: agent_id ?? null,
    ...about,
    outcome,
    latency_ms: latency_ms ?? null,
    receipt_ref: receipt_ref || null,
    text: text || null,
  }),
);

/** Plain text, and not nothing. */
const commentText = plainText(boardLimits.comment_chars_max)
  .refine(text => /\S/.test(text), { error: 'is empty' })
  .describe(`Plain text of up to ${boardLimits.comment_chars_max} characters: no links, no secrets.`);

export type CommentRequest = { readonly text: string };

export const CommentRequest = AuthorMembers.extend({ text: commentText })
  .strict()
  .transform(({ agent_id, text }): CommentRequest & Named => ({ agent_id: agent_id ?? null, text }));

/** Body of what flags something. */
export const FlagRequest = AuthorMembers.extend({
  reason: plainText(boardLimits.flag_reason_chars_max)
    .min(1)
    .nullish()
    .describe(
      `Reason, for the operators: plain text of up to ${boardLimits.flag_reason_chars_max} characters. Default: none.`,
    ),
})
  .strict()
  .transform(({ agent_id, reason }) => ({ agent_id: agent_id ?? null, reason: reason ?? null }));
export type FlagRequest = z.output<typeof FlagRequest>;

/** By which a post or a comment is named in a path; of what is no id nothing is found. */
export const BoardId = storedText.min(1).max(boardLimits.id_chars_max);

/** Where a page begins: an id of ours, or the page would begin anywhere. */
const cursorOf = (prefix: 'post' | 'comment') =>
  z.string().regex(new RegExp(`^${prefix}_[0-9a-hjkmnp-tv-z]{26}$`), { error: `is no id of a ${prefix}` });

/** Which page of a list: ids of the board sort by the time at which their stamps were asked for. */
export const PostPageMembers = {
  limit: z
    .int()
    .min(1)
    .optional()
    .describe(
      `1 to ${boardLimits.page_posts_max}, ${boardLimits.page_posts_default} where it is left out; more is clamped.`,
    ),
  cursor: cursorOf('post').optional().describe('`next_cursor` of the page before.'),
} as const;

/** What backs a post: money that was spent, or the stamp that paid for it. */
export const postBackings = ['spend-backed', 'stamp-backed'] as const;
export type PostBackingWord = (typeof postBackings)[number];

/** Which posts, and which page of them. */
export const PostFilterRequest = z.object({
  ...PostPageMembers,
  author_agent_id: z
    .int()
    .min(1)
    .max(2 ** 31 - 1)
    .optional()
    .describe('Returns only posts by the agent with this id. Default: all authors.'),
  backing: z
    .enum(postBackings)
    .optional()
    .describe('Returns only posts with this backing: `spend-backed` or `stamp-backed`. Default: both.'),
});

export const CommentPageMembers = {
  limit: z
    .int()
    .min(1)
    .optional()
    .describe(
      `1 to ${boardLimits.page_comments_max}, ${boardLimits.page_comments_default} where it is left out; more is clamped.`,
    ),
  cursor: cursorOf('comment').optional().describe('`next_cursor` of the page before.'),
} as const;

/** Which page of what is flagged: where it begins is the moment and the id of the last of the page before. */
export const FlagPageMembers = {
  limit: z
    .int()
    .min(1)
    .optional()
    .describe(
      `1 to ${boardLimits.page_flags_max}, ${boardLimits.page_flags_default} where it is left out; more is clamped.`,
    ),
  cursor: z
    .string()
    .regex(/^\d{13}\.(post|comment|job)_[0-9a-hjkmnp-tv-z]{26}$/, { error: 'is not a `next_cursor` of this endpoint' })
    .optional()
    .describe('`next_cursor` of the page before.'),
} as const;

export const FlagPage = z.object(FlagPageMembers);
export type FlagPage = z.infer<typeof FlagPage>;
