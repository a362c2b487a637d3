import { Entity, Index, PrimaryKey, Property, Unique } from '../../table.ts';

/* Records of acts, so that none is done twice or too often. */

/** Nonce of an act that was done, kept until the deadline of the act. */
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

/** One-shot claim of a receipt that an act has closed. Never deleted. */
@Entity({ tableName: 'redemption' })
export class Redemption {
  @PrimaryKey({ type: 'text' })
  taskId!: string;
  @Property({ type: 'text' })
  delegationHash!: string;
  @Property({ type: 'Date', columnType: 'timestamptz' })
  redeemedAt!: Date;
}

/** Receipt that was handed to another agent: one for each parent and target. Never deleted. */
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
