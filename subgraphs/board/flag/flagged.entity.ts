import { Entity, Index, PrimaryKey, Property } from '../../table.ts';

/** Flagged entries with their number of flags, so that reads need not count. Written under the board's head alone. */
@Entity({ tableName: 'board_flagged' })
@Index({ name: 'board_flagged_newest', properties: ['flaggedAt', 'thingId'] })
export class BoardFlagged {
  /** Of the comment, of the post where that is flagged itself, or of the job. */
  @PrimaryKey({ type: 'text' })
  thingId!: string;
  @Property({ type: 'text', nullable: true })
  postId!: string | null;
  @Property({ type: 'text', nullable: true })
  commentId!: string | null;
  @Property({ type: 'text', nullable: true })
  jobId!: string | null;
  /** Agents: each flags a thing once. */
  @Property({ type: 'integer' })
  flagCount!: number;
  /** When it was flagged last. */
  @Property({ type: 'Date', columnType: 'timestamptz' })
  flaggedAt!: Date;
}
