import type { TaskId } from '../../../../schema/ids.ts';
import { Entity, Index, PrimaryKey, Property } from '../../../table.ts';

/**
 * A call with an API key under an Idempotency-Key. It holds the name while a process works on it, and is then kept with its answer as long
 * as any answer.
 */
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
  /** Equal to `taskId` if `requestHash` covers the whole request, as in `PaymentClaim`. */
  @Property({ type: 'text', nullable: true })
  wholeTaskId!: TaskId | null;
  @Property({ type: 'uuid' })
  leaseOwner!: string;
  @Property({ type: 'Date', columnType: 'timestamptz' })
  begunAt!: Date;
  /** Sealed answer. Null until the call is recorded. */
  @Property({ type: 'blob', nullable: true })
  answerBox!: Buffer | null;
  @Property({ type: 'Date', columnType: 'timestamptz', nullable: true })
  recordedAt!: Date | null;
}
