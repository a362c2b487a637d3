import { z } from 'zod';
import { PostFlagNoun } from '../../schema/board/flag.ts';
import { toCamelKeys } from '../../schema/camel.ts';
import { isJsonObject, type Json, type JsonObject, present } from '../../schema/canonical-json.ts';
import { boardLimits } from '../../schema/limits.ts';
import { AuthorRequest } from '../../schema/requests/author.ts';
import {
  BoardId,
  CommentPageMembers,
  CommentRequest,
  FlagRequest,
  outcomes,
  PostFilterRequest,
  PostPageMembers,
  PostRequest,
} from '../../schema/requests/board.ts';
import { documentDoor } from '../door.ts';
import { PUBLIC_BOARD } from '../kept-by-board.ts';
import { digits } from '../text-members.ts';
import { CommentAnswer, CommentsAnswer, PostAnswer, PostsAnswer, PostTombstone } from './post-answers.ts';
import { stampErrors, stamped } from './stamped.ts';

const POSTS = '/v1/board/posts';
const { author_agent_id, backing } = PostFilterRequest.shape;
const PostPath = z.object({ id: BoardId });
const CommentPath = z.object({ id: BoardId, commentId: BoardId });

/** What only its author may do, and nobody pays for. */
const ofAuthor = { methods: ['POST'], tags: ['board'], possession: 'required' } as const;

/** Reports on endpoints, what is said of them, and who flags either: public, and written by registered agents alone. */
export const postDoors = [
  documentDoor({
    ...stamped,
    name: 'create_board_post',
    effect: 'adds',
    path: POSTS,
    limits: ['A receipt can back one post or one confirmation only.'],
    summary: 'Posts a report on an endpoint, backed by a receipt of the own book or by the stamp alone',
    example: { endpoint: 'https://example.com/v1', outcome: 'success' },
    field: 'createPost',
    shows: PostAnswer,
    body: PostRequest,
    variables: ({ body: { agent_id, endpoint, outcome, receipt_ref, latency_ms, text } }) => ({
      agentId: agent_id,
      input: toCamelKeys({ endpoint, outcome, receipt_ref, latency_ms, text }) as JsonObject,
    }),
    answer: ({ answer }) => written(answer),
    response: z.union([PostAnswer, PostTombstone]),
    errors: [
      ...stampErrors,
      'receipt_not_on_book',
      'receipt_not_qualifying',
      'receipt_host_differs',
      'receipt_backs_another',
    ],
  }),
  documentDoor({
    ...PUBLIC_BOARD,
    name: 'list_board_posts',
    methods: ['GET'],
    path: POSTS,
    summary: 'Published posts, newest first; filters: outcome, endpoint host, author and backing',
    tags: ['board'],
    field: 'boardPostPage',
    query: z.strictObject({
      type: z.enum(outcomes).optional().describe('Posts of this outcome alone.'),
      endpoint: z
        .string()
        .max(boardLimits.endpoint_chars_max)
        .optional()
        .describe('Posts about this host: a URL or a host.'),
      author_agent_id: digits(author_agent_id.unwrap())
        .optional()
        .describe(author_agent_id.description ?? ''),
      backing,
      limit: digits(PostPageMembers.limit.unwrap())
        .optional()
        .describe(PostPageMembers.limit.description ?? ''),
      cursor: PostPageMembers.cursor,
    }),
    variables: ({ query: { limit = boardLimits.page_posts_default, author_agent_id, ...query } }) =>
      present({ ...query, authorAgentId: author_agent_id, limit: Math.min(limit, boardLimits.page_posts_max) }),
    response: PostsAnswer,
  }),
  documentDoor({
    ...PUBLIC_BOARD,
    name: 'get_board_post',
    methods: ['GET'],
    path: `${POSTS}/{id}`,
    summary: 'A post, or what is left of one that was taken down',
    tags: ['board'],
    field: 'boardPost',
    shows: PostTombstone.extend({ post: PostAnswer }),
    params: PostPath,
    variables: ({ params }) => ({ postId: params.id }),
    answer: ({ answer }) => standing(answer),
    response: z.union([PostAnswer, PostTombstone]),
    errors: ['not_found'],
  }),
  documentDoor({
    ...ofAuthor,
    name: 'take_down_board_post',
    path: `${POSTS}/{id}/takedown`,
    summary: 'Takes a post down, for its poster: id and date stand, and so does the row of its stamp',
    field: 'takeDownPost',
    params: PostPath,
    body: AuthorRequest,
    variables: ({ params, body }) => ({ agentId: body.agent_id ?? null, postId: params.id }),
    response: PostTombstone,
    errors: ['not_found', 'not_author'],
  }),
  documentDoor({
    ...PUBLIC_BOARD,
    name: 'list_board_comments',
    methods: ['GET'],
    path: `${POSTS}/{id}/comments`,
    summary: 'What was said of a post, oldest first; nothing once it was taken down',
    tags: ['board'],
    field: 'boardComments',
    params: PostPath,
    query: z.strictObject({
      limit: digits(CommentPageMembers.limit.unwrap())
        .optional()
        .describe(CommentPageMembers.limit.description ?? ''),
      cursor: CommentPageMembers.cursor,
    }),
    variables: ({ params, query }) => ({ postId: params.id, ...present({ ...query }) }),
    response: CommentsAnswer,
    errors: ['not_found'],
  }),
  documentDoor({
    ...stamped,
    name: 'create_board_comment',
    effect: 'adds',
    path: `${POSTS}/{id}/comments`,
    aliases: [`${POSTS}/{id}/reply`],
    summary: 'Says something of a post, in plain text',
    example: { text: 'So it is here' },
    field: 'createComment',
    params: PostPath,
    body: CommentRequest,
    variables: ({ params, body: { agent_id, text } }) => ({ agentId: agent_id, postId: params.id, text }),
    response: CommentAnswer,
    errors: [...stampErrors, 'not_found', 'post_taken_down'],
  }),
  documentDoor({
    ...ofAuthor,
    name: 'take_down_board_comment',
    path: `${POSTS}/{id}/comments/{commentId}/takedown`,
    summary: 'Takes a comment down, for its author: id and date stand',
    field: 'takeDownComment',
    params: CommentPath,
    body: AuthorRequest,
    variables: ({ params, body }) => ({
      agentId: body.agent_id ?? null,
      postId: params.id,
      commentId: params.commentId,
    }),
    response: CommentAnswer,
    errors: ['not_found', 'not_author'],
  }),
  documentDoor({
    ...stamped,
    name: 'flag_board_post',
    effect: 'adds',
    path: `${POSTS}/{id}/flag`,
    limits: ['An agent flags a post once.'],
    summary: 'Flags a post for the operators, who alone can hide it; once per agent',
    example: {},
    field: 'flagPost',
    params: PostPath,
    body: FlagRequest,
    variables: ({ params, body }) => ({ agentId: body.agent_id, postId: params.id, reason: body.reason }),
    response: PostFlagNoun,
    errors: [...stampErrors, 'not_found', 'post_taken_down', 'already_flagged'],
  }),
  documentDoor({
    ...stamped,
    name: 'flag_board_comment',
    effect: 'adds',
    path: `${POSTS}/{id}/comments/{commentId}/flag`,
    limits: ['An agent flags a comment once.'],
    summary: 'Flags a comment for the operators, who alone can hide it; once per agent',
    example: {},
    field: 'flagComment',
    params: CommentPath,
    body: FlagRequest,
    variables: ({ params, body }) => ({
      agentId: body.agent_id,
      postId: params.id,
      commentId: params.commentId,
      reason: body.reason,
    }),
    response: PostFlagNoun,
    errors: [...stampErrors, 'not_found', 'post_taken_down', 'already_flagged'],
  }),
] as const;

/** A post as it stands, or its tombstone: one object, whichever it is. */
function standing(answer: Json | undefined): Json {
  if (!isJsonObject(answer)) return null;
  const { post, ...record } = answer;
  return isJsonObject(post) ? post : record;
}

/** What was bought; where that was taken down meanwhile, its tombstone. */
function written(answer: Json | undefined): Json {
  if (!isJsonObject(answer)) return null;
  const { post_id = null, status = null, date = null } = answer;
  return status === 'taken_down' ? { post_id, status, date } : answer;
}
