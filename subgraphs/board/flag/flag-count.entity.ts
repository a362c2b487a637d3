import { Entity, Index, PrimaryKey, Property } from '../../table.ts';

/**
 * Number of flags of each flagged post, comment or job, so that a read need not count them. Written only under the lock of the board's
 * head.
 */
@Entity({ tableName: 'board_flagged' })
@Index({ name: 'board_flagged_newest', properties: ['flaggedAt', 'thingId'] })
export class FlagCount {
  /** Id of the flagged comment, post or job. */
  @PrimaryKey({ type: 'text' })
  thingId!: string;
  @Property({ type: 'text', nullable: true })
  postId!: string | null;
  @Property({ type: 'text', nullable: true })
  commentId!: string | null;
  @Property({ type: 'text', nullable: true })
  jobId!: string | null;
  /** Number of agents that have flagged it. Each agent counts once. */
  @Property({ type: 'integer' })
  flagCount!: number;
  /** Time of the last flag. */
  @Property({ type: 'Date', columnType: 'timestamptz' })
  flaggedAt!: Date;
}
