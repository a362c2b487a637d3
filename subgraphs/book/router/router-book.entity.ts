import type { AtomicAmount } from '../../../schema/amount.ts';
import type { AgentId, RouterBookId } from '../../../schema/ids.ts';
import { AtomicAmountColumn, Entity, Index, PrimaryKey, Property, Unique } from '../../table.ts';

const BOOK_ID_CHARS = 40;

/**
 * A router book, to which generations are reported. It is not the book of an agent; if it names an agent, reports are recorded on
 * that book too.
 */
@Entity({ tableName: 'router_book' })
export class RouterBook {
  @PrimaryKey({ type: 'string', length: BOOK_ID_CHARS })
  bookId!: RouterBookId;
  @Property({ type: 'integer', nullable: true })
  agentId!: AgentId | null;
  @Property({ type: 'string', length: 120, nullable: true })
  label!: string | null;
  /** SHA-256 of its ingest key in hex. Never shown. */
  @Property({ type: 'string', length: 64 })
  @Unique({ name: 'router_book_key' })
  keyHash!: string;
  /** Sealed key of the third-party router. Null if none was given. */
  @Property({ type: 'blob', nullable: true })
  routerKeyBox!: Buffer | null;
  @Property({ type: 'Date', columnType: 'timestamptz', nullable: true })
  routerKeySetAt!: Date | null;
  @Property({ type: 'Date', columnType: 'timestamptz' })
  openedAt!: Date;
}

/** A generation as first reported. Only the result of a lookup is added later. */
@Entity({ tableName: 'router_generation' })
export class RouterGeneration {
  @PrimaryKey({ type: 'string', length: BOOK_ID_CHARS })
  bookId!: RouterBookId;
  @PrimaryKey({ type: 'string', length: 128 })
  generationId!: string;
  /** Task of its receipt. */
  @Property({ type: 'string', length: 64 })
  taskId!: string;
  @Property({ type: 'string', length: 200 })
  model!: string;
  /** Millionths of a dollar. */
  @Property({ type: new AtomicAmountColumn() })
  amount!: AtomicAmount;
  @Property({ type: 'string', length: 32 })
  rail!: string;
  @Property({ type: 'string', length: 256, nullable: true })
  paymentRef!: string | null;
  /** Host of the router that confirmed it. Null if none has. */
  @Property({ type: 'string', length: 255, nullable: true })
  verifiedWith!: string | null;
  @Property({ type: 'Date', columnType: 'timestamptz' })
  reportedAt!: Date;
}

/** Verified generations of a book by rail, counted when verified, so that summaries never scan. */
@Entity({ tableName: 'router_sum' })
export class RouterSum {
  @PrimaryKey({ type: 'string', length: BOOK_ID_CHARS })
  bookId!: RouterBookId;
  @PrimaryKey({ type: 'string', length: 32 })
  rail!: string;
  @Property({ type: 'integer' })
  count!: number;
  @Property({ type: new AtomicAmountColumn() })
  amount!: AtomicAmount;
}

/** Number of free uses in an hour or day by a book or by the mark of an address. */
@Entity({ tableName: 'router_use' })
export class RouterUse {
  @PrimaryKey({ type: 'string', length: 80 })
  holder!: string;
  @PrimaryKey({ type: 'Date', columnType: 'timestamptz' })
  @Index({ name: 'router_use_period' })
  period!: Date;
  @Property({ type: 'integer' })
  uses!: number;
}
