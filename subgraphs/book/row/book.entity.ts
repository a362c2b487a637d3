import { Entity, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import { type AtomicAmount, remainder } from '../../../schema/amount.ts';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import { AtomicAmountColumn } from '../../columns.ts';

/**
 * The head of one book: where its two chains stand (rows by seq, events by position) and the counters that answer
 * every total without a scan. Only the ledger writes it, always under its row lock.
 */
@Entity({ tableName: 'book' })
export class BookHead {
  @PrimaryKey({ type: 'integer', autoincrement: false })
  agentId!: number;
  /** Budget Y; null is unlimited. */
  @Property({ type: AtomicAmountColumn, nullable: true })
  budgetAtomic!: AtomicAmount | null;
  @Property({ type: AtomicAmountColumn, default: '0' })
  spentAtomic!: AtomicAmount;
  /** Held by claims that are neither collected nor released: what makes a cap hold under concurrency. */
  @Property({ type: AtomicAmountColumn, default: '0' })
  reservedAtomic!: AtomicAmount;
  @Property({ type: 'integer', default: 0 })
  seq!: number;
  @Property({ type: 'integer', default: 0 })
  position!: number;
  @Property({ type: 'text', default: '' })
  rowHash!: string;
  @Property({ type: 'text', default: '' })
  eventHash!: string;
  /** `{<rail>: {count, amount}}` over the rows that carry an amount. */
  @Property({ type: 'json', defaultRaw: `'{}'` })
  byRail!: JsonObject;
  @Property({ type: 'Date', columnType: 'timestamptz' })
  openedAt!: Date;

  get remainingAtomic(): AtomicAmount | null {
    return this.budgetAtomic === null ? null : remainder(this.budgetAtomic, this.spentAtomic);
  }
}
