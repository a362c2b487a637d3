import { Entity, Index, PrimaryKey, Property, Unique } from '../../table.ts';

/* What acts of sessions leave, so that none is done twice or too often. */

/** A nonce of an act that was done: kept for as long as the act would pass. */
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

/** A one-shot claim of a receipt that was closed by an act: once, for ever. */
@Entity({ tableName: 'redemption' })
export class Redemption {
  @PrimaryKey({ type: 'text' })
  taskId!: string;
  @Property({ type: 'text' })
  delegationHash!: string;
  @Property({ type: 'Date', columnType: 'timestamptz' })
  redeemedAt!: Date;
}

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

/** How often a session has done in an hour what nobody pays for. */
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
