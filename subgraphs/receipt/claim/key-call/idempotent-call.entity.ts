import type { TaskId } from '../../../../schema/ids.ts';
import { Entity, Index, PrimaryKey, Property } from '../../../table.ts';

/** A call by key under an Idempotency-Key: held while a process works on it, then kept with its answer for as long as any. */
@Entity({ tableName: 'idempotent_call' })
export class IdempotentCall {
  /** Hash of API key and Idempotency-Key: keys of different callers never collide, and neither is stored. */
  @PrimaryKey({ type: 'text' })
  mark!: string;
  @Index({ name: 'idempotent_call_by_key' })
  @Property({ type: 'text' })
  apiKeyHash!: string;
  @Property({ type: 'text' })
  requestHash!: string;
  @Index({ name: 'idempotent_call_task' })
  @Property({ type: 'text' })
  taskId!: TaskId;
  /** Like that of a payment: the task id again, if the hash covers the whole request. */
  @Property({ type: 'text', nullable: true })
  wholeTaskId!: TaskId | null;
  @Property({ type: 'uuid' })
  leaseOwner!: string;
  @Property({ type: 'Date', columnType: 'timestamptz' })
  begunAt!: Date;
  /** Sealed. */
  @Property({ type: 'blob', nullable: true })
  answerBox!: Buffer | null;
  @Property({ type: 'Date', columnType: 'timestamptz', nullable: true })
  recordedAt!: Date | null;
}
