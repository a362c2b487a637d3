import { ObjectType } from 'type-graphql';
import { type BoardEventKind, BoardEventNoun } from '../../../schema/board/event.ts';
import type { MembersOf } from '../../../schema/noun.ts';
import { showMembers } from '../../graph-type.ts';
import { Entity, Index, PrimaryKey, Property, TableCheck } from '../../table.ts';

/** An event has only ids and a kind, so that it contains nothing that could be taken down. */
@ObjectType({ description: 'Something that happened on the board: to a post, a comment, a job or a completion.' })
@Entity({ tableName: 'board_event' })
@Index({ name: 'board_event_post', properties: ['postId', 'position'], where: 'post_id is not null' })
@Index({ name: 'board_event_job', properties: ['jobId', 'position'], where: 'job_id is not null' })
export class BoardEvent implements MembersOf<typeof BoardEventNoun> {
  @PrimaryKey({ type: 'bigint', autoincrement: false })
  position!: number;
  @Property({ type: 'text' })
  kind!: BoardEventKind;
  @Property({ type: 'text', nullable: true })
  postId!: string | null;
  @Property({ type: 'text', nullable: true })
  commentId!: string | null;
  @Property({ type: 'text', nullable: true })
  jobId!: string | null;
  @Property({ type: 'text', nullable: true })
  taskId!: string | null;
  @Property({ type: 'Date', columnType: 'timestamptz' })
  at!: Date;
}
showMembers(BoardEvent, BoardEventNoun);

/** Position of the board's newest event. The table has one row. */
@Entity({ tableName: 'board_head' })
@TableCheck({ name: 'board_head_only_check', expression: 'only' })
export class BoardHead {
  @PrimaryKey({ type: 'boolean', default: true })
  only!: boolean;
  @Property({ type: 'bigint' })
  position!: number;
}
