import { Entity, Index, PrimaryKey, Property } from '../../table.ts';

/** That an agent wants the board's operators to look at a post or a comment. It hides nothing by itself. */
@Entity({ tableName: 'board_flag' })
@Index({ name: 'board_flag_of', properties: ['postId', 'commentId'] })
export class BoardFlag {
  @PrimaryKey({ type: 'text' })
  flagId!: string;
  @Property({ type: 'text' })
  postId!: string;
  /** Null where it is of the post itself. */
  @Property({ type: 'text', nullable: true })
  commentId!: string | null;
  @Property({ type: 'integer' })
  agentId!: number;
  /** Task of the stamp that paid for it. */
  @Property({ type: 'text' })
  stampTaskId!: string;
  @Property({ type: 'Date', columnType: 'timestamptz' })
  flaggedAt!: Date;
}
