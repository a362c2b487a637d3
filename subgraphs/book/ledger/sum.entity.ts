import type { AtomicAmount } from '../../../schema/amount.ts';
import { AtomicAmountColumn, Entity, Index, PrimaryKey, Property } from '../../table.ts';

/** Sum of the rows of a book that share a value, in one hour or day (UTC). See sums.ts. */
@Entity({ tableName: 'book_sum' })
@Index({
  name: 'book_sum_unseen',
  properties: ['agentId', 'period'],
  where: "dimension = 'evidence' and bucket = 'RECORDED_BY_SETTLE'",
})
export class BookSum {
  @PrimaryKey({ type: 'integer', autoincrement: false })
  agentId!: number;
  @PrimaryKey({ type: 'text' })
  dimension!: string;
  @PrimaryKey({ type: 'Date', columnType: 'timestamptz' })
  period!: Date;
  /** Value that the rows share. Empty for rows without one. */
  @PrimaryKey({ type: 'text' })
  bucket!: string;
  /** Empty for rows without a payment. Amounts of different rails are never added. */
  @PrimaryKey({ type: 'text' })
  rail!: string;
  /** Number of rows with an amount. In the dimensions `rows` and `evidence`, number of all rows. */
  @Property({ type: 'integer' })
  count!: number;
  @Property({ type: AtomicAmountColumn })
  amount!: AtomicAmount;
  /** Lowest seq of the rows that were ever counted in this sum. `lastSeq` is the highest. */
  @Property({ type: 'integer' })
  firstSeq!: number;
  @Property({ type: 'integer' })
  lastSeq!: number;
}
