import type { AtomicAmount } from '../../../schema/amount.ts';
import type { KeptAlertSettings } from '../../../schema/book-alerts.ts';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import type { BookPolicy } from '../../../schema/policy-kinds.ts';
import type { WebhookKind } from '../../../schema/webhook/kinds.ts';
import { AtomicAmountColumn, Entity, Index, PrimaryKey, Property } from '../../table.ts';
import type { AlertState } from '../alerts/state.ts';

/**
 * Head of a book: the ends of its two chains (rows by seq, events by position) and the counters from which totals are answered
 * without a scan. Only the ledger writes them, under the lock of the head. Budget and policy are set by the owner.
 */
@Entity({ tableName: 'book' })
@Index({ name: 'book_damaged', properties: ['agentId'], where: 'damage is not null' })
export class BookHead {
  @PrimaryKey({ type: 'integer', autoincrement: false })
  agentId!: number;
  /** Budget Y. Null if unlimited. */
  @Property({ type: AtomicAmountColumn, nullable: true })
  budgetAtomic!: AtomicAmount | null;
  /** Sum of all rows that count toward budget and caps, collected or not. */
  @Property({ type: AtomicAmountColumn, default: '0' })
  spentAtomic!: AtomicAmount;
  /** Amount reserved by claims that are neither collected nor released, so that concurrent calls cannot exceed the caps. */
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
  /** `{<rail>: {count, amount}}` of the rows that have an amount. */
  @Property({ type: 'json', defaultRaw: `'{}'` })
  byRail!: JsonObject;
  @Property({ type: 'Date', columnType: 'timestamptz' })
  openedAt!: Date;
  /** Policies that the owner has set. Others are absent. */
  @Property({ type: 'json', defaultRaw: `'{}'` })
  policy!: BookPolicy;
  /** Policies in shadow mode. They refuse no call, and record the refusals that they would have made. */
  @Property({ type: 'json', defaultRaw: `'{}'` })
  shadow!: BookPolicy;
  /** Grows with each change of budget or policy, so that refusals are counted separately before and after a change. */
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

  /** `{what, place, found_at}` if the audit closed the book. Null if it is open. */
  @Property({ type: 'json', nullable: true })
  damage!: JsonObject | null;
  /** Hash of budget and policy when they were last set. Null if they were not set since this column was added. */
  @Property({ type: 'text', nullable: true })
  termsHash!: string | null;

  /** Alert settings of the owner. Those that are not set are absent. */
  @Property({ type: 'json', defaultRaw: `'{}'` })
  alertSettings!: KeptAlertSettings;
  /** Alerts that were sent, and the sums by which alerts are judged. */
  @Property({ type: 'json', defaultRaw: `'{}'` })
  alertState!: AlertState;

  /** Event kinds to which the book's webhook subscribes. Null if it has no active webhook. */
  @Property({ type: 'json', columnType: 'jsonb', nullable: true })
  webhookKinds!: readonly WebhookKind[] | null;
  /** Number of the last message for webhooks of this book. */
  @Property({ type: 'integer', default: 0 })
  webhookMessages!: number;
}
