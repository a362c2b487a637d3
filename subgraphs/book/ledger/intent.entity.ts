import { Entity, PrimaryKey, Property } from '../../table.ts';

/** Counters of an intent, written with its rows, so that reading `intents` of a book never scans. */
@Entity({ tableName: 'book_intent' })
export class BookIntent {
  @PrimaryKey({ type: 'integer', autoincrement: false })
  agentId!: number;
  @PrimaryKey({ type: 'text' })
  intentId!: string;
  @Property({ type: 'integer', default: 0 })
  collectedCount!: number;
  @Property({ type: 'integer', default: 0 })
  blockedCount!: number;
}
