import type { AtomicAmount } from '../../../schema/amount.ts';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import { AtomicAmountColumn, BigIntType, Entity, Index, PrimaryKey, Property } from '../../table.ts';
import type { MapPage } from './sparse-map.ts';

/** A table with one row: the size of the log that the totals count, and the statement that was signed over it. */
@Entity({ tableName: 'totals_state' })
export class TotalsState {
  @PrimaryKey({ type: 'smallint', autoincrement: false })
  totalsId!: number;
  @Property({ type: new BigIntType('number') })
  treeSize!: number;
  /** Root of the log at that size, hex. If the log has another root there, all totals are rebuilt. Empty before the first leaf. */
  @Property({ type: 'text' })
  rootHash!: string;
  /** The newest signed statement, as canonical JSON. Null before the first one. */
  @Property({ type: 'text', nullable: true })
  statement!: string | null;
  /** A payment that two receipts name (see integrate.ts). Null if there is none. */
  @Property({ type: 'json', columnType: 'jsonb', nullable: true })
  conflict!: JsonObject | null;
}

/** A transfer that was only vouched for when its receipt was signed, and was seen later. */
@Entity({ tableName: 'totals_seen' })
@Index({ name: 'totals_seen_uncounted', properties: ['taskId'], where: 'not counted' })
@Index({ name: 'totals_seen_unplaced', properties: ['paymentRef'], where: 'transfer_index is null' })
export class TotalsSeen {
  @PrimaryKey({ type: 'text' })
  taskId!: string;
  @Property({ type: 'text' })
  paymentRef!: string;
  /** Index of the transfer. Null if it was seen before the totals existed: it is then identified by its payer and payee. */
  @Property({ type: 'integer', nullable: true })
  transferIndex!: number | null;
  @Property({ type: 'boolean', default: false })
  counted!: boolean;
}

/** A counted receipt: its row in the sum tree of its book, and the key of its payment. */
@Entity({ tableName: 'totals_row' })
export class TotalsRow {
  @PrimaryKey({ type: 'text' })
  taskId!: string;
  @Property({ type: new BigIntType('number') })
  leafIndex!: number;
  @Property({ type: 'integer', nullable: true })
  agentId!: number | null;
  @Property({ type: 'text' })
  rail!: string;
  @Property({ type: new BigIntType('number'), nullable: true })
  rowIndex!: number | null;
  @Index({
    name: 'totals_row_payment',
    expression: 'create unique index totals_row_payment on totals_row (payment_key)',
  })
  @Property({ type: 'text', nullable: true })
  paymentKey!: string | null;
}

/** The root of the sum tree of one book and rail. */
@Entity({ tableName: 'totals_book' })
export class TotalsBook {
  @PrimaryKey({ type: 'integer', autoincrement: false })
  agentId!: number;
  @PrimaryKey({ type: 'text' })
  rail!: string;
  @Property({ type: new BigIntType('number') })
  rows!: number;
  @Property({ type: new AtomicAmountColumn() })
  total!: AtomicAmount;
  @Property({ type: 'text' })
  root!: string;
}

/** The root of a perfect subtree of a sum tree, which is written once and not changed. */
@Entity({ tableName: 'totals_node' })
export class TotalsNode {
  @PrimaryKey({ type: 'integer', autoincrement: false })
  agentId!: number;
  @PrimaryKey({ type: 'text' })
  rail!: string;
  @PrimaryKey({ type: 'smallint', autoincrement: false })
  level!: number;
  @PrimaryKey({ type: new BigIntType('number'), autoincrement: false })
  index!: number;
  @Property({ type: new AtomicAmountColumn() })
  sum!: AtomicAmount;
  @Property({ type: 'blob', columnType: 'bytea' })
  hash!: Buffer;
}

/** A page of one of the two maps. */
@Entity({ tableName: 'totals_page' })
export class TotalsPage {
  @PrimaryKey({ type: 'text' })
  map!: string;
  @PrimaryKey({ type: 'text' })
  prefix!: string;
  @Property({ type: 'json', columnType: 'jsonb' })
  page!: MapPage;
}
