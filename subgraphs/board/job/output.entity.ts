import type { OutputEncoding } from '../../../schema/board/job.ts';
import { Entity, Index, PrimaryKey, Property } from '../../table.ts';

/** What a winner has revealed: sealed, for the poster alone, and forgotten after its time. */
@Entity({ tableName: 'board_job_output' })
@Index({ name: 'board_job_output_kept', properties: ['keptUntil'] })
export class BoardJobOutput {
  @PrimaryKey({ type: 'text' }) jobId!: string;
  /** By the vault. */
  @Property({ type: 'Buffer', columnType: 'bytea' }) outputBox!: Buffer;
  @Property({ type: 'text' }) encoding!: OutputEncoding;
  @Property({ type: 'Date', columnType: 'timestamptz' }) keptUntil!: Date;
}
