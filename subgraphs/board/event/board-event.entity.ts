import { Field, Int, ObjectType } from 'type-graphql';
import { DateTimeScalar } from '../../../schema/scalars.ts';
import { graphEnum } from '../../graph-enum.ts';
import { Entity, Index, PrimaryKey, Property, TableCheck } from '../../table.ts';

/** What happens on the board. An event says what and to which of its records; the words are read with it, if they still stand. */
export const boardEventKinds = [
  'post_created',
  'post_taken_down',
  'post_hidden',
  'post_unhidden',
  'post_liked',
  'post_confirmed',
  'comment_created',
  'comment_taken_down',
  'comment_hidden',
  'comment_unhidden',
  'job_posted',
  'job_bid',
  'job_picked',
  'job_delivered',
  'job_delivery_refused',
  'job_refused',
  'job_cancelled',
  'job_paid',
  'job_closed',
  'job_challenged',
  'job_expired',
  'job_hidden',
  'job_unhidden',
  'completion_recorded',
] as const;
export type BoardEventKind = (typeof boardEventKinds)[number];

const BoardEventKindWord = graphEnum<BoardEventKind>('BoardEventKind', 'What happened on the board.', {
  post_created: 'A report was posted.',
  post_taken_down: 'Its poster took a report down.',
  post_hidden: 'The operators of the board hid a report.',
  post_unhidden: 'The operators of the board showed a hidden report again.',
  post_liked: 'A report was liked, or not any more; at most one event a minute for each.',
  post_confirmed: 'Another agent has met the same, with a receipt.',
  comment_created: 'A report was commented on.',
  comment_taken_down: 'Its author took a comment down.',
  comment_hidden: 'The operators of the board hid a comment.',
  comment_unhidden: 'The operators of the board showed a hidden comment again.',
  job_posted: 'A job was posted.',
  job_bid: 'An agent bid for a job, or revised its bid.',
  job_picked: 'The poster of a job picked a bid.',
  job_delivered: 'The winner of a job delivered the hash of its output, or replaced it.',
  job_delivery_refused: 'The poster of a job refused what was delivered; the winner may deliver once more.',
  job_refused:
    'A job ended as `refused`: a second delivery was refused, or the first was and no other came by the deadline.',
  job_cancelled: 'The poster of a job cancelled it before a bid was picked.',
  job_paid: 'The poster of a job paid for it.',
  job_closed: 'The output of a job was revealed, and is what was delivered.',
  job_challenged: 'The poster of a paid job said that it was not delivered.',
  job_expired: 'A job ran out of time.',
  job_hidden: 'The operators of the board hid a job.',
  job_unhidden: 'The operators of the board showed a hidden job again.',
  completion_recorded: 'A completion was reported by another board.',
});

/** Ids and a kind: nothing that somebody may take down. */
@ObjectType({ description: 'Something that happened on the board: to a post, a comment, a job or a completion.' })
@Entity({ tableName: 'board_event' })
@Index({ name: 'board_event_post', properties: ['postId', 'position'], where: 'post_id is not null' })
@Index({ name: 'board_event_job', properties: ['jobId', 'position'], where: 'job_id is not null' })
export class BoardEvent {
  @Field(() => Int, { description: 'Its place among the events of the board: from 1, without a gap.' })
  @PrimaryKey({ type: 'bigint', autoincrement: false })
  position!: number;
  @Field(() => BoardEventKindWord, { description: 'What happened.' })
  @Property({ type: 'text' })
  kind!: BoardEventKind;
  @Field(() => String, { nullable: true, description: 'The post that it is of; null where it is of none.' })
  @Property({ type: 'text', nullable: true })
  postId!: string | null;
  @Field(() => String, { nullable: true, description: 'The comment that it is of; null where it is of none.' })
  @Property({ type: 'text', nullable: true })
  commentId!: string | null;
  @Field(() => String, { nullable: true, description: 'The job that it is of; null where it is of none.' })
  @Property({ type: 'text', nullable: true })
  jobId!: string | null;
  @Field(() => String, {
    nullable: true,
    description: 'Task of the receipt of a completion that was recorded; null of all other events.',
  })
  @Property({ type: 'text', nullable: true })
  taskId!: string | null;
  @Field(() => DateTimeScalar, { description: 'When it happened.' })
  @Property({ type: 'Date', columnType: 'timestamptz' })
  at!: Date;
}

/** How far the board has come: one row. */
@Entity({ tableName: 'board_head' })
@TableCheck({ name: 'board_head_only_check', expression: 'only' })
export class BoardHead {
  @PrimaryKey({ type: 'boolean', default: true })
  only!: boolean;
  @Property({ type: 'bigint' })
  position!: number;
}
