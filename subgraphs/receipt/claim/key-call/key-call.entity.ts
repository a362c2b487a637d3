import type { TaskId } from '../../../../schema/ids.ts';
import { Entity, Index, PrimaryKey, Property } from '../../../table.ts';

/** A call with an API key, stored while a process works on it. A recorded call leaves a receipt, a failed one leaves nothing. */
@Entity({ tableName: 'key_call' })
@Index({ name: 'key_call_canceled', properties: ['canceledFor', 'canceledAt'], where: 'canceled_for is not null' })
export class KeyCall {
  @PrimaryKey({ type: 'text' })
  taskId!: TaskId;
  @Property({ type: 'uuid' })
  leaseOwner!: string;
  @Property({ type: 'Date', columnType: 'timestamptz' })
  begunAt!: Date;
  /** Time at which the buyer canceled the call. The row is then kept as long as an answer. */
  @Property({ type: 'Date', columnType: 'timestamptz', nullable: true })
  canceledAt?: Date | null;
  /** Hash of the API key of a canceled call that had an Idempotency-Key. Null otherwise. */
  @Property({ type: 'text', nullable: true })
  canceledFor?: string | null;
}
