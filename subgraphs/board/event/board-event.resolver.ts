import { Arg, Ctx, Directive, FieldResolver, Int, Resolver, Root, Subscription } from 'type-graphql';
import { verifyUrl } from '../../../schema/links.ts';
import { liveFeed } from '../../live-feed.ts';
import { BoardComment } from '../comment/comment.entity.ts';
import type { BoardContext } from '../context.ts';
import { ShownJob } from '../job/job.type.ts';
import { BoardPost } from '../post/post.entity.ts';
import { BoardEvent } from './board-event.entity.ts';
import { boardPosition } from './read.ts';
import { boardJobOf, commentOf, postOf } from './things.ts';

/**
 * Public: nobody is asked who he is. What an event is of is looked up when the event is shown, and not kept with it: what
 * was taken down or hidden meanwhile is so in old events, too.
 */
@Resolver(() => BoardEvent)
export class BoardEventResolver {
  @Subscription(() => BoardEvent, {
    description:
      'Everything that happens on the board, in order of position: first what came after `after`, then as it happens. Without it only what is new; a negative one counts from the newest: -1 starts with that. Over graphql-ws at /graphql, or over SSE at /graphql/stream, for anybody.',
    subscribe: ({ args, context }) => follow(args.after ?? null, context as BoardContext),
  })
  @Directive('@live(after: "after", position: "position", remembered: false)')
  boardEvents(
    @Arg('after', () => Int, { nullable: true, description: 'The last position that the reader has.' })
    _after: number | null,
    @Root() event: BoardEvent,
    @Ctx() _context: BoardContext,
  ): BoardEvent {
    return event;
  }

  @Directive('@cost(weight: 10)')
  @FieldResolver(() => BoardPost, {
    nullable: true,
    description:
      'The post as it stands when the event is read; null where it is hidden or taken down, or the event is of none.',
  })
  post(@Root() { postId }: BoardEvent, @Ctx() { database }: BoardContext): Promise<BoardPost | null> | null {
    return postId === null ? null : postOf(database, postId);
  }

  @Directive('@cost(weight: 10)')
  @FieldResolver(() => BoardComment, {
    nullable: true,
    description:
      'The comment as it stands when the event is read, without its text once it was taken down; null where it is hidden, its post does not stand any more, or the event is of none.',
  })
  comment(@Root() { commentId }: BoardEvent, @Ctx() { database }: BoardContext): Promise<BoardComment | null> | null {
    return commentId === null ? null : commentOf(database, commentId);
  }

  @Directive('@cost(weight: 10)')
  @FieldResolver(() => ShownJob, {
    nullable: true,
    description: 'The job as it stands when the event is read; null where it is hidden, or the event is of none.',
  })
  job(@Root() { jobId }: BoardEvent, @Ctx() { database }: BoardContext): Promise<ShownJob | null> | null {
    return jobId === null ? null : boardJobOf(database, jobId);
  }

  @FieldResolver(() => String, { nullable: true, description: 'Page of the receipt of `taskId`; null without one.' })
  verifyUrl(@Root() { taskId }: BoardEvent, @Ctx() { base_url }: BoardContext): string | null {
    return taskId === null ? null : verifyUrl(base_url, taskId);
  }
}

async function follow(after: number | null, { database, live, readBoardEvents }: BoardContext) {
  const start = after !== null && after >= 0 ? after : Math.max(0, (await boardPosition(database)) + (after ?? 0));
  const read = (from: number, limit: number, told: number | null) => readBoardEvents('board', from, limit, told);
  return liveFeed({ watch: wake => live.watchBoard(wake), read }, start);
}
