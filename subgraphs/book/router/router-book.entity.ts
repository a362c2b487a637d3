import type { AtomicAmount } from '../../../schema/amount.ts';
import type { AgentId, RouterBookId } from '../../../schema/ids.ts';
import { AtomicAmountColumn, Entity, Index, PrimaryKey, Property, Unique } from '../../table.ts';

const BOOK_ID_CHARS = 40;

/** A router book: what somebody broadcasts generations to. It is no agent's book: of one it may name the agent, and then what comes lands there too. */
@Entity({ tableName: 'router_book' })
export class RouterBook {
  @PrimaryKey({ type: 'string', length: BOOK_ID_CHARS })
  bookId!: RouterBookId;
  @Property({ type: 'integer', nullable: true })
  agentId!: AgentId | null;
  @Property({ type: 'string', length: 120, nullable: true })
  label!: string | null;
  /** SHA-256 of its ingest key, hex; shown to nobody. */
  @Property({ type: 'string', length: 64 })
  @Unique({ name: 'router_book_key' })
  keyHash!: string;
  /** The third-party router's key, sealed; null where none was given. */
  @Property({ type: 'blob', nullable: true })
  routerKeyBox!: Buffer | null;
  @Property({ type: 'Date', columnType: 'timestamptz', nullable: true })
  routerKeySetAt!: Date | null;
  @Property({ type: 'Date', columnType: 'timestamptz' })
  openedAt!: Date;
}

/** A generation as it was reported first, for ever; what a look-up has found of it may come later. */
@Entity({ tableName: 'router_generation' })
export class RouterGeneration {
  @PrimaryKey({ type: 'string', length: BOOK_ID_CHARS })
  bookId!: RouterBookId;
  @PrimaryKey({ type: 'string', length: 128 })
  generationId!: string;
  /** Of its receipt. */
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
  /** The host of the router that told the same; null: none has. */
  @Property({ type: 'string', length: 255, nullable: true })
  verifiedWith!: string | null;
  @Property({ type: 'Date', columnType: 'timestamptz' })
  reportedAt!: Date;
}

/** Verified generations of a book by their rails: counted as they are verified, so that no summary scans. */
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

/** How often a holder, of a book or of an address by its mark, has used in an hour or a day what nobody pays for. */
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
