import type { BookEventKind } from '../../../schema/book/event.ts';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import { Entity, PrimaryKey, Property } from '../../table.ts';

/**
 * Counts repeats on one row outside the chain of events, until they become one event. The counter is deleted in the transaction of
 * that event, so nothing is counted twice.
 */
@Entity({ tableName: 'book_counted' })
export class RepeatedEvents {
  @PrimaryKey({ type: 'integer', autoincrement: false })
  agentId!: number;
  @PrimaryKey({ type: 'integer', autoincrement: false })
  seq!: number;
  @PrimaryKey({ type: 'text' })
  kind!: BookEventKind;
  @Property({ type: 'text' })
  taskId!: string;
  /** Members of the event besides `at`, `first_at` and `count`. */
  @Property({ type: 'json' })
  body!: JsonObject;
  @Property({ type: 'integer' })
  count!: number;
  @Property({ type: 'Date', columnType: 'timestamptz' })
  firstAt!: Date;
  @Property({ type: 'Date', columnType: 'timestamptz' })
  lastAt!: Date;
}

/** Number of replays of a row in the latest hour that had any (UTC, clock of the database). */
@Entity({ tableName: 'book_replay_hour' })
export class ReplayHour {
  @PrimaryKey({ type: 'integer', autoincrement: false })
  agentId!: number;
  @PrimaryKey({ type: 'integer', autoincrement: false })
  seq!: number;
  @Property({ type: 'Date', columnType: 'timestamptz' })
  hour!: Date;
  @Property({ type: 'integer' })
  replays!: number;
}

/** Number of rows for refused calls of one kind in one hour, and the last of these rows. */
@Entity({ tableName: 'book_blocked_hour' })
export class BlockedHourRow {
  @PrimaryKey({ type: 'integer', autoincrement: false })
  agentId!: number;
  @PrimaryKey({ type: 'integer', autoincrement: false })
  policyVersion!: number;
  @PrimaryKey({ type: 'text' })
  policyCode!: string;
  /** Empty for calls without an intent, and for the counts of a whole book. */
  @PrimaryKey({ type: 'text' })
  intentId!: string;
  @PrimaryKey({ type: 'Date', columnType: 'timestamptz' })
  hour!: Date;
  @Property({ type: 'integer' })
  rows!: number;
  @Property({ type: 'integer' })
  seq!: number;
  @Property({ type: 'text' })
  taskId!: string;
  @Property({ type: 'text' })
  refusalId!: string;
}
