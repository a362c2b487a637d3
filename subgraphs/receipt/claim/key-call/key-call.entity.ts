import type { TaskId } from '../../../../schema/ids.ts';
import { Entity, Index, PrimaryKey, Property } from '../../../table.ts';

/** A call by key, here for as long as a process works on it: what it leaves behind is its receipt, or nothing. */
@Entity({ tableName: 'key_call' })
@Index({ name: 'key_call_canceled', properties: ['canceledFor', 'canceledAt'], where: 'canceled_for is not null' })
export class KeyCall {
  @PrimaryKey({ type: 'text' })
  taskId!: TaskId;
  @Property({ type: 'uuid' })
  leaseOwner!: string;
  @Property({ type: 'Date', columnType: 'timestamptz' })
  begunAt!: Date;
  /** Time its buyer canceled it. It is then kept for as long as an answer would be. */
  @Property({ type: 'Date', columnType: 'timestamptz', nullable: true })
  canceledAt?: Date | null;
  /** The key that had bought it, as a hash. */
  @Property({ type: 'text', nullable: true })
  canceledFor?: string | null;
}
