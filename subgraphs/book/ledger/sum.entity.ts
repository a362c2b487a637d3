import type { AtomicAmount } from '../../../schema/amount.ts';
import { AtomicAmountColumn, Entity, Index, PrimaryKey, Property } from '../../table.ts';

/** What the rows of one book that have something in common came to in one hour or day (UTC): see sums.ts. */
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
  /** Empty where the rows have no value. */
  @PrimaryKey({ type: 'text' })
  bucket!: string;
  /** Empty where nothing was paid: amounts of two rails are never added up. */
  @PrimaryKey({ type: 'text' })
  rail!: string;
  /** Of rows that carry an amount; by `rows` and `evidence` of all. */
  @Property({ type: 'integer' })
  count!: number;
  @Property({ type: AtomicAmountColumn })
  amount!: AtomicAmount;
  /** Of all rows counted here, whatever became of them. */
  @Property({ type: 'integer' })
  firstSeq!: number;
  @Property({ type: 'integer' })
  lastSeq!: number;
}
