import { AtomicAmountColumn, Entity, Index, PrimaryKey, Property, Unique } from '../../table.ts';

/**
 * `sent`: committed, so it may be on the chain; of a key's there is one at most. `mined`: seen in a block that may yet be
 * replaced. `final`: behind the finalized block. `void`: mined and without effect. `lost`: another transaction has its
 * nonce, or its block was replaced by one without it.
 */
export type AnchorState = 'sent' | 'mined' | 'final' | 'void' | 'lost';

/** Bytes that were or may be broadcast, written down before they are: the first, and its replacements by higher fees. */
export interface AnchorAttempt {
  readonly tx_hash: string;
  readonly raw: string;
  /** Per gas, decimal. */
  readonly max_fee_wei: string;
  readonly priority_fee_wei: string;
}

/** One transaction of the anchor key. What counts as anchored the chain alone says: this is the journal of sending it. */
@Entity({ tableName: 'log_anchor' })
@Unique({ name: 'log_anchor_open', properties: ['chainEpoch', 'sender'], where: "state = 'sent'" })
@Index({ name: 'log_anchor_newest', properties: ['chainEpoch', 'sender', 'at'] })
export class LogAnchorRow {
  @PrimaryKey({ type: 'text' })
  anchorId!: string;
  @Property({ type: 'integer' })
  chainEpoch!: number;
  @Property({ type: 'text' })
  sender!: string;
  @Property({ type: 'text' })
  purpose!: 'deployment' | 'anchor';
  @Property({ type: 'bigint' })
  treeSize!: number;
  @Property({ type: 'text' })
  rootHash!: string;
  @Property({ type: 'bigint' })
  nonce!: number;
  @Property({ type: 'json' })
  attempts!: AnchorAttempt[];
  /** What it may cost, which the day's bound counts until it is known what it did. */
  @Property({ type: AtomicAmountColumn })
  feeMaxWei!: bigint;
  @Property({ type: AtomicAmountColumn, nullable: true })
  feeWei!: bigint | null;
  @Property({ type: 'text', nullable: true })
  txHash!: string | null;
  @Property({ type: 'bigint', nullable: true })
  blockNumber!: number | null;
  @Property({ type: 'text' })
  state!: AnchorState;
  @Property({ type: 'Date', columnType: 'timestamptz' })
  at!: Date;
}
