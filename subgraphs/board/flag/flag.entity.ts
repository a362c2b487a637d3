import { Entity, Index, PrimaryKey, Property } from '../../table.ts';

/** A flag: an agent's request that the operators check a post, a comment or a job. It hides nothing. */
@Entity({ tableName: 'board_flag' })
@Index({ name: 'board_flag_of', properties: ['postId', 'commentId'] })
@Index({ name: 'board_flag_post_reason', properties: ['postId', 'flaggedAt'], where: 'untrusted_reason is not null' })
@Index({ name: 'board_flag_job_reason', properties: ['jobId', 'flaggedAt'], where: 'untrusted_reason is not null' })
export class BoardFlag {
  @PrimaryKey({ type: 'text' })
  flagId!: string;
  /** The flagged post, or the post of the flagged comment. Null for a flag of a job. */
  @Property({ type: 'text', nullable: true })
  postId!: string | null;
  /** The flagged comment. Null for a flag of a job or of the post itself. */
  @Property({ type: 'text', nullable: true })
  commentId!: string | null;
  @Property({ type: 'text', nullable: true })
  jobId!: string | null;
  /** Reason that the agent states. Null if it states none. */
  @Property({ type: 'text', nullable: true })
  untrustedReason!: string | null;
  @Property({ type: 'integer' })
  agentId!: number;
  /** Task id of the stamp that paid for the flag. */
  @Property({ type: 'text' })
  stampTaskId!: string;
  @Property({ type: 'Date', columnType: 'timestamptz' })
  flaggedAt!: Date;
}
