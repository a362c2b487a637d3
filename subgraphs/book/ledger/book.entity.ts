import type { AtomicAmount } from '../../../schema/amount.ts';
import type { KeptAlertSettings } from '../../../schema/book-alerts.ts';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import type { BookPolicy } from '../../../schema/policy-kinds.ts';
import type { WebhookKind } from '../../../schema/webhook/kinds.ts';
import { AtomicAmountColumn, Entity, Index, PrimaryKey, Property } from '../../table.ts';
import type { AlertState } from '../alerts/state.ts';

/**
 * The head of one book: where its two chains stand (rows by seq, events by position) and the counters that answer
 * every total without a scan. Only the ledger writes them, always under the row's lock;
 * budget and policy are the owner's.
 */
@Entity({ tableName: 'book' })
@Index({ name: 'book_damaged', properties: ['agentId'], where: 'damage is not null' })
export class BookHead {
  @PrimaryKey({ type: 'integer', autoincrement: false })
  agentId!: number;
  /** Budget Y; null is unlimited. */
  @Property({ type: AtomicAmountColumn, nullable: true })
  budgetAtomic!: AtomicAmount | null;
  /** Of all rows under the budget from their birth on, whether their money was seen or not: what ceilings count. */
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
  /** What its owner set; members that are not set are not there. */
  @Property({ type: 'json', defaultRaw: `'{}'` })
  policy!: BookPolicy;
  /** The same in shadow mode: it refuses nothing, and tells what it would have refused. */
  @Property({ type: 'json', defaultRaw: `'{}'` })
  shadow!: BookPolicy;
  /** Grows whenever budget or policy are set: what it refused before is another refusal. */
  @Property({ type: 'integer', default: 0 })
  policyVersion!: number;
  /** The UTC hour and the UTC day in which something was collected last, and how much since they began. */
  @Property({ type: 'Date', columnType: 'timestamptz', nullable: true })
  hourStart!: Date | null;
  @Property({ type: AtomicAmountColumn, default: '0' })
  hourAtomic!: AtomicAmount;
  @Property({ type: 'Date', columnType: 'timestamptz', nullable: true })
  dayStart!: Date | null;
  @Property({ type: AtomicAmountColumn, default: '0' })
  dayAtomic!: AtomicAmount;

  /** `{what, place, found_at}` where its audit has closed it. */
  @Property({ type: 'json', nullable: true })
  damage!: JsonObject | null;
  /** Of budget and policy, as their owner set them last; null where they have not since there is such a hash. */
  @Property({ type: 'text', nullable: true })
  termsHash!: string | null;

  /** What of its alerts its owner set; what is not set is not there. */
  @Property({ type: 'json', defaultRaw: `'{}'` })
  alertSettings!: KeptAlertSettings;
  /** What it has told, and what it judges by. */
  @Property({ type: 'json', defaultRaw: `'{}'` })
  alertState!: AlertState;

  /** Of what its webhook tells; null: of nothing. */
  @Property({ type: 'json', columnType: 'jsonb', nullable: true })
  webhookKinds!: readonly WebhookKind[] | null;
  /** How many messages there were for webhooks of this book: the number of the last. */
  @Property({ type: 'integer', default: 0 })
  webhookMessages!: number;
}
