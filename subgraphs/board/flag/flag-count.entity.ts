import { Entity, Index, PrimaryKey, Property } from '../../table.ts';

/** Flagged entries with their number of flags, so that reads need not count. Written only under the lock of the board's head. */
@Entity({ tableName: 'board_flagged' })
@Index({ name: 'board_flagged_newest', properties: ['flaggedAt', 'thingId'] })
export class FlagCount {
  /** Id of the comment, of the post if that itself is flagged, or of the job. */
  @PrimaryKey({ type: 'text' })
  thingId!: string;
  @Property({ type: 'text', nullable: true })
  postId!: string | null;
  @Property({ type: 'text', nullable: true })
  commentId!: string | null;
  @Property({ type: 'text', nullable: true })
  jobId!: string | null;
  /** Number of agents that have flagged it, each of them once. */
  @Property({ type: 'integer' })
  flagCount!: number;
  /** Time of the last flag. */
  @Property({ type: 'Date', columnType: 'timestamptz' })
  flaggedAt!: Date;
}
