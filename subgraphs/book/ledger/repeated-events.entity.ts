import type { BookEventKind } from '../../../schema/book/event.ts';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import { Entity, PrimaryKey, Property } from '../../table.ts';

/**
 * What happens to one row too often for an event each time: counted here, outside the chain, until it becomes one event.
 * Its row goes in the transaction that appends the event, so nothing is counted twice.
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
  /** What the event will say beside `at`, `first_at` and `count`. */
  @Property({ type: 'json' })
  body!: JsonObject;
  @Property({ type: 'integer' })
  count!: number;
  @Property({ type: 'Date', columnType: 'timestamptz' })
  firstAt!: Date;
  @Property({ type: 'Date', columnType: 'timestamptz' })
  lastAt!: Date;
}

/** How often a row was replayed in the newest hour (UTC, the database's clock) in which it was. */
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

/** How many rows a book's policy has left in one hour for calls of one kind, and the last of them. */
@Entity({ tableName: 'book_blocked_hour' })
export class BlockedHourRow {
  @PrimaryKey({ type: 'integer', autoincrement: false })
  agentId!: number;
  @PrimaryKey({ type: 'integer', autoincrement: false })
  policyVersion!: number;
  @PrimaryKey({ type: 'text' })
  policyCode!: string;
  /** Empty for calls that name none. */
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
