import { Entity, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import type { TaskId } from '../../../../schema/ids.ts';

/** A call by key, here for as long as a process works on it: what it leaves behind is its receipt, or nothing. */
@Entity({ tableName: 'key_call' })
export class KeyCall {
  @PrimaryKey({ type: 'text' })
  taskId!: TaskId;
  @Property({ type: 'uuid' })
  leaseOwner!: string;
  @Property({ type: 'Date', columnType: 'timestamptz' })
  begunAt!: Date;
}
