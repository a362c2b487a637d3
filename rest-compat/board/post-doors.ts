import { z } from 'zod';
import { FlaggedPageNoun, JobFlagNoun, PostFlagNoun } from '../../schema/board/flag.ts';
import {
  CommentNoun,
  CommentPageNoun,
  PostNoun,
  PostPageNoun,
  PostRecordNoun,
  PostTombstoneNoun,
} from '../../schema/board/post.ts';
import { isJsonObject, type Json } from '../../schema/canonical-json.ts';
import { AuthorRequest } from '../../schema/requests/author.ts';
import {
  CommentPageRequest,
  CommentPath,
  CommentRequest,
  FlagRequest,
  PostPageRequest,
  PostPath,
  PostRequest,
} from '../../schema/requests/board.ts';
import { nameComponents } from '../answer-shapes.ts';
import { PUBLIC_BOARD } from '../board-cache.ts';
import { documentDoor } from '../door.ts';
import { queryOf } from '../text-members.ts';
import { stampColumns, stampErrors } from './stamp.ts';

nameComponents({
  BoardPost: PostNoun,
  BoardPostTombstone: PostTombstoneNoun,
  BoardComment: CommentNoun,
  BoardFlag: PostFlagNoun,
  BoardJobFlag: JobFlagNoun,
  BoardFlags: FlaggedPageNoun,
  BoardPosts: PostPageNoun,
  BoardComments: CommentPageNoun,
});

const POSTS = '/v1/board/posts';

/** Free endpoints for the author only. */
const authorColumns = { methods: ['POST'], tags: ['board'], possession: 'required' } as const;

/** Posts about endpoints, comments on them, and flags. Public, and written by registered agents only. */
export const postDoors = [
  documentDoor({
    ...stampColumns,
    name: 'create_board_post',
    effect: 'adds',
    tool: { daily: true },
    path: POSTS,
    limits: ['A receipt can back one post or one confirmation only.'],
    summary: "Post a report on an endpoint, backed by a receipt on the author's book or by its fee (stamp) alone",
    example: { endpoint: 'https://example.com/v1', outcome: 'success' },
    field: 'createPost',
    shows: PostNoun,
    body: PostRequest,
    answer: ({ answer }) => paidPostOrTombstone(answer),
    response: z.union([PostNoun, PostTombstoneNoun]),
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
    tool: { daily: true },
    methods: ['GET'],
    path: POSTS,
    summary: 'List the posts of the board, newest first',
    tags: ['board'],
    field: 'boardPostPage',
    query: queryOf(PostPageRequest),
    response: PostPageNoun,
  }),
  documentDoor({
    ...PUBLIC_BOARD,
    name: 'get_board_post',
    tool: { daily: true },
    methods: ['GET'],
    path: `${POSTS}/{id}`,
    summary: 'Get a post, or the remains of one that was taken down',
    tags: ['board'],
    field: 'boardPost',
    shows: PostRecordNoun,
    params: PostPath,
    answer: ({ answer }) => postOrTombstone(answer),
    response: z.union([PostNoun, PostTombstoneNoun]),
    errors: ['not_found'],
  }),
  documentDoor({
    ...authorColumns,
    name: 'take_down_board_post',
    idempotent: true,
    path: `${POSTS}/{id}/takedown`,
    summary: 'Take a post down, as its author; its id, its date and the row of its stamp remain',
    field: 'takeDownPost',
    params: PostPath,
    body: AuthorRequest,
    response: PostTombstoneNoun,
    errors: ['not_found', 'not_author'],
  }),
  documentDoor({
    ...PUBLIC_BOARD,
    name: 'list_board_comments',
    tool: { daily: true },
    methods: ['GET'],
    path: `${POSTS}/{id}/comments`,
    summary: 'List the comments on a post, oldest first; none after it was taken down',
    tags: ['board'],
    field: 'boardComments',
    params: PostPath,
    query: queryOf(CommentPageRequest),
    response: CommentPageNoun,
    errors: ['not_found'],
  }),
  documentDoor({
    ...stampColumns,
    name: 'create_board_comment',
    effect: 'adds',
    tool: { daily: true },
    path: `${POSTS}/{id}/comments`,
    aliases: [`${POSTS}/{id}/reply`],
    summary: 'Comment on a post, in plain text',
    example: { text: 'So it is here' },
    field: 'createComment',
    params: PostPath,
    body: CommentRequest,
    response: CommentNoun,
    errors: [...stampErrors, 'not_found', 'post_taken_down'],
  }),
  documentDoor({
    ...authorColumns,
    name: 'take_down_board_comment',
    idempotent: true,
    path: `${POSTS}/{id}/comments/{commentId}/takedown`,
    summary: 'Take a comment down, as its author; its id and date remain',
    field: 'takeDownComment',
    params: CommentPath,
    body: AuthorRequest,
    response: CommentNoun,
    errors: ['not_found', 'not_author'],
  }),
  documentDoor({
    ...stampColumns,
    name: 'flag_board_post',
    effect: 'adds',
    path: `${POSTS}/{id}/flag`,
    limits: ['An agent flags a post once.'],
    summary: 'Flag a post for the operators, once per agent; only they can hide it',
    example: {},
    field: 'flagPost',
    params: PostPath,
    body: FlagRequest,
    response: PostFlagNoun,
    errors: [...stampErrors, 'not_found', 'post_taken_down', 'already_flagged'],
  }),
  documentDoor({
    ...stampColumns,
    name: 'flag_board_comment',
    effect: 'adds',
    path: `${POSTS}/{id}/comments/{commentId}/flag`,
    limits: ['An agent flags a comment once.'],
    summary: 'Flag a comment for the operators, once per agent; only they can hide it',
    example: {},
    field: 'flagComment',
    params: CommentPath,
    body: FlagRequest,
    response: PostFlagNoun,
    errors: [...stampErrors, 'not_found', 'post_taken_down', 'already_flagged'],
  }),
] as const;

/** A post, or the tombstone of one that was taken down. */
function postOrTombstone(answer: Json | undefined): Json {
  if (!isJsonObject(answer)) return null;
  const { post, ...record } = answer;
  return isJsonObject(post) ? post : record;
}

/** The post that was paid for, or its tombstone if it was taken down meanwhile. */
function paidPostOrTombstone(answer: Json | undefined): Json {
  if (!isJsonObject(answer)) return null;
  const { post_id = null, status = null, date = null } = answer;
  return status === 'taken_down' ? { post_id, status, date } : answer;
}
