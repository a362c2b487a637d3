import type { AtomicAmount } from '../../../schema/amount.ts';
import type { AgentId, RouterBookId } from '../../../schema/ids.ts';
import { AtomicAmountColumn, Entity, Index, PrimaryKey, Property, Unique } from '../../table.ts';

const BOOK_ID_CHARS = 40;

/**
 * A router book, to which generations are reported. It is not the book of an agent. If it names an agent, reports are recorded on the
 * book of that agent too.
 */
@Entity({ tableName: 'router_book' })
export class RouterBook {
  @PrimaryKey({ type: 'string', length: BOOK_ID_CHARS })
  bookId!: RouterBookId;
  @Property({ type: 'integer', nullable: true })
  agentId!: AgentId | null;
  @Property({ type: 'string', length: 120, nullable: true })
  label!: string | null;
  /** SHA-256 of the ingest key in hex. Never shown. */
  @Property({ type: 'string', length: 64 })
  @Unique({ name: 'router_book_key' })
  keyHash!: string;
  /** Encrypted key of the third-party router. Null if none was set. */
  @Property({ type: 'blob', nullable: true })
  routerKeyBox!: Buffer | null;
  @Property({ type: 'Date', columnType: 'timestamptz', nullable: true })
  routerKeySetAt!: Date | null;
  @Property({ type: 'Date', columnType: 'timestamptz' })
  openedAt!: Date;
}

/** A generation as it was first reported. Only the result of a lookup is added later. */
@Entity({ tableName: 'router_generation' })
export class RouterGeneration {
  @PrimaryKey({ type: 'string', length: BOOK_ID_CHARS })
  bookId!: RouterBookId;
  @PrimaryKey({ type: 'string', length: 128 })
  generationId!: string;
  /** Task id of the receipt for the generation. */
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
  /** Host of the router that confirmed the generation. Null if none has. */
  @Property({ type: 'string', length: 255, nullable: true })
  verifiedWith!: string | null;
  @Property({ type: 'Date', columnType: 'timestamptz' })
  reportedAt!: Date;
}

/** Sum of the verified generations of a router book by rail. It is updated with each one, so that a summary reads no generations. */
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

/** Number of free requests in an hour or a day, by a router book or by the keyed hash of an address. */
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
