import { Args, Ctx, Directive, FieldResolver, Resolver, Root, Subscription } from 'type-graphql';
import { BoardEventNoun } from '../../../schema/board/event.ts';
import { verifyUrl } from '../../../schema/links.ts';
import { FeedRequest } from '../../../schema/requests/book.ts';
import { type Arguments, argumentsType, descriptionOptions } from '../../graph-type.ts';
import { liveFeed } from '../../live-feed.ts';
import { BoardComment } from '../comment/comment.entity.ts';
import type { BoardContext } from '../context.ts';
import { ShownJob } from '../job/job.type.ts';
import { BoardPost } from '../post/post.entity.ts';
import { BoardEvent } from './board-event.entity.ts';
import { boardPosition } from './read.ts';
import { boardJobOf, commentOf, postOf } from './subjects.ts';

const members = BoardEventNoun.shape;
const FeedArguments = argumentsType(FeedRequest);

/**
 * Events are public. The subject of an event is read when the event is shown and not stored with it, so hidden and taken-down entries
 * disappear from old events too.
 */
@Resolver(() => BoardEvent)
export class BoardEventResolver {
  @Subscription(() => BoardEvent, {
    description:
      'Events of the board in order of position: first those after `after`, then new ones as they happen. Without `after` only new ones; a negative `after` counts from the newest event: -1 starts with it. Public, over graphql-ws at /graphql or SSE at /graphql/stream.',
    subscribe: ({ args, context }) => follow(args.after ?? null, context as BoardContext),
  })
  @Directive('@live(after: "after", position: "position", remembered: false)')
  boardEvents(
    @Args(() => FeedArguments) _asked: Arguments,
    @Root() event: BoardEvent,
    @Ctx() _context: BoardContext,
  ): BoardEvent {
    return event;
  }

  @Directive('@cost(weight: 10)')
  @FieldResolver(() => BoardPost, { nullable: true, ...descriptionOptions(members.post) })
  post(@Root() { postId }: BoardEvent, @Ctx() { database }: BoardContext): Promise<BoardPost | null> | null {
    return postId === null ? null : postOf(database, postId);
  }

  @Directive('@cost(weight: 10)')
  @FieldResolver(() => BoardComment, { nullable: true, ...descriptionOptions(members.comment) })
  comment(@Root() { commentId }: BoardEvent, @Ctx() { database }: BoardContext): Promise<BoardComment | null> | null {
    return commentId === null ? null : commentOf(database, commentId);
  }

  @Directive('@cost(weight: 10)')
  @FieldResolver(() => ShownJob, { nullable: true, ...descriptionOptions(members.job) })
  job(@Root() { jobId }: BoardEvent, @Ctx() { database }: BoardContext): Promise<ShownJob | null> | null {
    return jobId === null ? null : boardJobOf(database, jobId);
  }

  @FieldResolver(() => String, { nullable: true, ...descriptionOptions(members.verify_url) })
  verifyUrl(@Root() { taskId }: BoardEvent, @Ctx() { base_url }: BoardContext): string | null {
    return taskId === null ? null : verifyUrl(base_url, taskId);
  }
}

async function follow(after: number | null, { database, live, readBoardEvents }: BoardContext) {
  const start = after !== null && after >= 0 ? after : Math.max(0, (await boardPosition(database)) + (after ?? 0));
  const read = (from: number, limit: number, notified: number | null) =>
    readBoardEvents('board', from, limit, notified);
  return liveFeed({ watch: wake => live.watchBoard(wake), read }, start);
}
