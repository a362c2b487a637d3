import { Entity, PrimaryKey, Property } from '../../table.ts';

/** What a treasury intent came to, counted as rows land: the book's `intents` never scan. */
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
