import type { AtomicAmount } from '../../../schema/amount.ts';
import type { KeptAlertSettings } from '../../../schema/book-alerts.ts';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import type { BookPolicy } from '../../../schema/policy-kinds.ts';
import type { WebhookKind } from '../../../schema/webhook/kinds.ts';
import { AtomicAmountColumn, Entity, Index, PrimaryKey, Property } from '../../table.ts';
import type { AlertState } from '../alerts/state.ts';

/**
 * Head of a book: the ends of its two chains (rows by seq, events by position) and the counters that answer totals without a scan.
 * Only the ledger writes them, under the row's lock; budget and policy are the owner's.
 */
@Entity({ tableName: 'book' })
@Index({ name: 'book_damaged', properties: ['agentId'], where: 'damage is not null' })
export class BookHead {
  @PrimaryKey({ type: 'integer', autoincrement: false })
  agentId!: number;
  /** Budget Y; null is unlimited. */
  @Property({ type: AtomicAmountColumn, nullable: true })
  budgetAtomic!: AtomicAmount | null;
  /** Sum of all rows under the budget, collected or not, which caps count. */
  @Property({ type: AtomicAmountColumn, default: '0' })
  spentAtomic!: AtomicAmount;
  /** Held by claims that are neither collected nor released, so that caps hold under concurrency. */
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
  /** Policies set by the owner. Those that are not set are absent. */
  @Property({ type: 'json', defaultRaw: `'{}'` })
  policy!: BookPolicy;
  /** Policies in shadow mode. They refuse nothing and record what they would have refused. */
  @Property({ type: 'json', defaultRaw: `'{}'` })
  shadow!: BookPolicy;
  /** Grows with each change of budget or policy, which makes later refusals different ones. */
  @Property({ type: 'integer', default: 0 })
  policyVersion!: number;
  /** UTC hour and day of the last collected amount, and the sums since they began. */
  @Property({ type: 'Date', columnType: 'timestamptz', nullable: true })
  hourStart!: Date | null;
  @Property({ type: AtomicAmountColumn, default: '0' })
  hourAtomic!: AtomicAmount;
  @Property({ type: 'Date', columnType: 'timestamptz', nullable: true })
  dayStart!: Date | null;
  @Property({ type: AtomicAmountColumn, default: '0' })
  dayAtomic!: AtomicAmount;

  /** `{what, place, found_at}` if its audit closed it. */
  @Property({ type: 'json', nullable: true })
  damage!: JsonObject | null;
  /** Hash of budget and policy as last set. Null if they were not set since the hash was introduced. */
  @Property({ type: 'text', nullable: true })
  termsHash!: string | null;

  /** Alert settings of the owner. Those that are not set are absent. */
  @Property({ type: 'json', defaultRaw: `'{}'` })
  alertSettings!: KeptAlertSettings;
  /** Sent alerts and the sums they are judged by. */
  @Property({ type: 'json', defaultRaw: `'{}'` })
  alertState!: AlertState;

  /** Event kinds to which its webhook subscribes. Null if none. */
  @Property({ type: 'json', columnType: 'jsonb', nullable: true })
  webhookKinds!: readonly WebhookKind[] | null;
  /** Number of the last message for webhooks of this book. */
  @Property({ type: 'integer', default: 0 })
  webhookMessages!: number;
}
