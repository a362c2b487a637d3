import { Entity, PrimaryKey, Property, Unique } from '../../table.ts';

/** A receipt that was handed to another agent: one for each parent and target, for ever. */
@Entity({ tableName: 'hand_off' })
@Unique({ name: 'hand_off_child', properties: ['taskId'] })
export class HandOff {
  @PrimaryKey({ type: 'text' })
  parentTaskId!: string;
  @PrimaryKey({ type: 'integer' })
  targetAgent!: number;
  /** Of the child receipt. */
  @Property({ type: 'text' })
  taskId!: string;
  @Property({ type: 'text' })
  delegationHash!: string;
}
