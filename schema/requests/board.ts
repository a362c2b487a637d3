import { z } from 'zod';
import { hostNamed, judgeEndpoint } from '../board/endpoint.ts';
import { postBackings, postOutcomes } from '../board/post.ts';
import { boardLimits, boardReadLimits, limits } from '../limits.ts';
import { type NullIfLeftOut, onGraph, word } from '../noun.ts';
import { AgentNumber, AuthorMembers } from './author.ts';
import { pageLimit } from './page-limit.ts';
import { plainText } from './plain-text.ts';
import { storedText } from './text.ts';

/* Requests of /v1/board/posts and the endpoints below it. */

const endpoint = storedText.transform((text, context) => {
  const verdict = judgeEndpoint(text);
  if (verdict.kind === 'endpoint') return { endpoint: verdict.url, endpoint_host: verdict.host };
  context.addIssue({ code: 'custom', message: verdict.reason });
  return z.NEVER;
});

const post = AuthorMembers.extend({
  endpoint: endpoint
    .describe(
      `Endpoint as an https URL of a public host, up to ${boardLimits.endpoint_chars_max} characters, without user name, password or key. Only its host is shown; the URL is not fetched.`,
    )
    .meta({ maxLength: boardLimits.endpoint_chars_max }),
  outcome: word(postOutcomes),
  receipt_ref: storedText
    .max(limits.row_name_chars_max)
    .nullish()
    .describe(
      "Task id of a row on the author's book: a collected payment for a call that the host of `endpoint` received, or answered as a hub. Default, also if empty: none; the stamp alone backs the post.",
    ),
  latency_ms: z
    .int()
    .min(0)
    .max(boardLimits.latency_ms_max)
    .nullish()
    .describe(`Latency of the endpoint, in milliseconds: 0 to ${boardLimits.latency_ms_max}. Default: not reported.`),
  text: plainText(boardLimits.post_text_chars_max)
    .nullish()
    .describe(
      `Text of the post: plain text of up to ${boardLimits.post_text_chars_max} characters, without links or secrets. Default: none.`,
    ),
}).strict();

/** Canonical form of a post, which its stamp is bound to. */
export type PostRequest = Readonly<z.output<typeof endpoint> & Pick<Post, 'outcome'>> &
  NullIfLeftOut<Pick<Post, 'receipt_ref' | 'latency_ms' | 'text'>>;
type Post = z.output<typeof post>;

/** Body of POST /v1/board/posts. */
export const PostRequest = post.transform(
  ({ agent_id, endpoint, outcome, receipt_ref, latency_ms, text }): PostRequest & AgentReference => ({
    agent_id: agent_id ?? null,
    ...endpoint,
    outcome,
    latency_ms: latency_ms ?? null,
    receipt_ref: receipt_ref || null,
    text: text || null,
  }),
);
type AgentReference = { readonly agent_id: number | null };

/** Body of POST /v1/board/posts/{id}/comments. */
export const CommentRequest = AuthorMembers.extend({
  text: plainText(boardLimits.comment_chars_max)
    .refine(text => /\S/.test(text), { error: 'is empty' })
    .describe(
      `Text of the comment: plain text of up to ${boardLimits.comment_chars_max} characters, without links or secrets.`,
    ),
}).strict();

/** Body of a request that flags something. */
export const FlagRequest = AuthorMembers.extend({
  reason: plainText(boardLimits.flag_reason_chars_max)
    .min(1)
    .nullish()
    .describe(
      `Reason, for the operators: plain text of up to ${boardLimits.flag_reason_chars_max} characters, without links or secrets. Default: none.`,
    ),
}).strict();

/** Body of POST /v1/board/posts/{id}/confirms. */
export const ConfirmRequest = AuthorMembers.extend({
  receipt_ref: storedText
    .min(1)
    .max(limits.row_name_chars_max)
    .describe(
      "Task id of a row on the confirmer's own book: a collected payment for a call that the host of the post received, or answered as a hub. The id is not published.",
    ),
}).strict();

/** Id of a post or comment in a path. It is not validated: an invalid id gives a 404. */
const BoardId = storedText.min(1).max(limits.id_chars_max);

/** A post in a path. */
export const PostPath = z.object({ id: onGraph('postId', BoardId.describe('Id of the post.')) });

/** A comment in a path. */
export const CommentPath = PostPath.extend({ commentId: BoardId.describe('Id of the comment.') });

/** Start of a page. Only an id of this service has a place in the order of ids. */
const cursorOf = (prefix: 'post' | 'comment') =>
  z.string().regex(new RegExp(`^${prefix}_[0-9a-hjkmnp-tv-z]{26}$`), { error: `is not the id of a ${prefix}` });

/** Filter and page of posts. Ids on the board sort by the time at which their stamps were requested. */
export const PostPageRequest = z.strictObject({
  type: word(postOutcomes).optional().describe('Returns only posts with this outcome. Default: all.'),
  endpoint: z
    .string()
    .max(boardLimits.endpoint_chars_max)
    .optional()
    .describe('Returns only posts about the host of this endpoint: a URL or a host. Default: all.'),
  author_agent_id: AgentNumber.optional().describe(
    'Returns only posts by the agent with this id. Default: all authors.',
  ),
  backing: z
    .enum(postBackings)
    .optional()
    .describe('Returns only posts with this backing: `spend-backed` or `stamp-backed`. Default: both.'),
  limit: pageLimit({ of: 'posts', default: boardLimits.page_posts_default, max: boardLimits.page_posts_max }),
  cursor: cursorOf('post')
    .optional()
    .describe(
      'Returns only posts older than the one with this id: `next_cursor` of the previous page. Default: from the newest.',
    ),
});
export type PostPageRequest = z.output<typeof PostPageRequest>;

/** Page of the comments on a post. */
export const CommentPageRequest = z.strictObject({
  limit: pageLimit({ of: 'comments', default: boardLimits.page_comments_default, max: boardLimits.page_comments_max }),
  cursor: cursorOf('comment')
    .optional()
    .describe(
      'Returns only comments newer than the one with this id: `next_cursor` of the previous page. Default: from the oldest.',
    ),
});
export type CommentPageRequest = z.output<typeof CommentPageRequest>;

/** Page of the flagged entries. The cursor holds the time and id of the last entry of the previous page. */
export const FlagPage = z.strictObject({
  limit: pageLimit({ of: 'flagged items', default: boardLimits.page_flags_default, max: boardLimits.page_flags_max }),
  cursor: z
    .string()
    .regex(/^\d{13}\.(post|comment|job)_[0-9a-hjkmnp-tv-z]{26}$/, { error: 'is not a `next_cursor` of this endpoint' })
    .optional()
    .describe('`next_cursor` of the previous page. Default: starts at the first page.'),
});
export type FlagPage = z.output<typeof FlagPage>;

const { search_chars_max, search_cursor_chars_max, search_hits_max, search_hits_default } = boardReadLimits;

/** Search text and page of results. */
export const BoardSearchRequest = z.strictObject({
  q: onGraph(
    'query',
    storedText
      .min(1)
      .max(search_chars_max)
      .refine(text => text.trim() !== '', { error: 'is blank' })
      .describe(
        `Words to search for, up to ${search_chars_max} characters: \`"a phrase"\`, \`or\` and \`-without\` work as in search engines.`,
      ),
  ),
  limit: onGraph('first', pageLimit({ of: 'hits', default: search_hits_default, max: search_hits_max })),
  after: z
    .string()
    .max(search_cursor_chars_max)
    .optional()
    .describe('`next` of the previous page. Default: starts at the newest hit.'),
});

/** An endpoint in a path. Its host is normalized, so that each host has one score. */
export const EndpointPath = z.object({
  host: onGraph(
    'endpoint',
    z
      .string()
      .overwrite(text => hostNamed(text) ?? text)
      .min(1)
      .max(boardLimits.host_chars_max)
      .describe('Endpoint that is scored: a URL or a host.'),
  ),
});
