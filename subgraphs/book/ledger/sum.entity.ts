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
  /** Empty for rows without the value. */
  @PrimaryKey({ type: 'text' })
  bucket!: string;
  /** Empty without a payment. Amounts of different rails are never added. */
  @PrimaryKey({ type: 'text' })
  rail!: string;
  /** Number of rows with an amount; with `rows` and `evidence` of all rows. */
  @Property({ type: 'integer' })
  count!: number;
  @Property({ type: AtomicAmountColumn })
  amount!: AtomicAmount;
  /** Number of all rows ever counted here. */
  @Property({ type: 'integer' })
  firstSeq!: number;
  @Property({ type: 'integer' })
  lastSeq!: number;
}
