import { Entity, Index, PrimaryKey, Property, Unique } from '../../table.ts';

/* Records of acts, so that no act is carried out twice or too often. */

/** Nonce of an act that was carried out. It is kept until the deadline of the act has passed. */
@Entity({ tableName: 'act_use' })
export class ActUse {
  @PrimaryKey({ type: 'text' })
  delegationHash!: string;
  @PrimaryKey({ type: 'text' })
  nonce!: string;
  @Index({ name: 'act_use_forget' })
  @Property({ type: 'Date', columnType: 'timestamptz' })
  forgetAt!: Date;
}

/** Claim of a receipt that an act has closed. Never deleted, because a claim can be closed only once. */
@Entity({ tableName: 'redemption' })
export class Redemption {
  @PrimaryKey({ type: 'text' })
  taskId!: string;
  @Property({ type: 'text' })
  delegationHash!: string;
  @Property({ type: 'Date', columnType: 'timestamptz' })
  redeemedAt!: Date;
}

/** A receipt that was handed to another agent. There is at most one for each parent and target. Never deleted. */
@Entity({ tableName: 'hand_off' })
@Unique({ name: 'hand_off_child', properties: ['taskId'] })
export class HandOff {
  @PrimaryKey({ type: 'text' })
  parentTaskId!: string;
  @PrimaryKey({ type: 'integer' })
  targetAgent!: number;
  /** Task id of the child receipt. */
  @Property({ type: 'text' })
  taskId!: string;
  @Property({ type: 'text' })
  delegationHash!: string;
}

/** Number of unpaid acts of a session in an hour. */
@Entity({ tableName: 'session_use' })
export class SessionUse {
  @PrimaryKey({ type: 'string', length: 80 })
  holder!: string;
  @PrimaryKey({ type: 'Date', columnType: 'timestamptz' })
  @Index({ name: 'session_use_period' })
  period!: Date;
  @Property({ type: 'integer' })
  uses!: number;
}
