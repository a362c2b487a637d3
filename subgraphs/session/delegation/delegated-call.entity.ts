import type { AtomicAmount } from '../../../schema/amount.ts';
import { AtomicAmountColumn, Entity, Index, PrimaryKey, Property } from '../../table.ts';

/** A call that was recorded under a session: by it the session's key finds its own receipts and rows, and no others. */
@Entity({ tableName: 'delegated_call' })
@Index({ name: 'delegated_call_session', properties: ['delegationHash'] })
export class DelegatedCall {
  @PrimaryKey({ type: 'text' })
  taskId!: string;
  @Property({ type: 'text' })
  delegationHash!: string;
  /** The book that its row is on; null where there is none. */
  @Property({ type: 'integer', nullable: true })
  agentId!: number | null;
  /** What it counts on every cap above it. */
  @Property({ type: AtomicAmountColumn })
  amountAtomic!: AtomicAmount;
}
