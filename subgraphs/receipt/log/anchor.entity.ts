import { AtomicAmountColumn, Entity, Index, PrimaryKey, Property, Unique } from '../../table.ts';

/**
 * `sent`: committed, so it may be on the chain; each key has at most one such transaction. `mined`: seen in a block that may yet be
 * replaced. `final`: in a finalized block. `void`: mined without effect. `lost`: another transaction has used its nonce, or its block was
 * replaced by one without it.
 */
export type AnchorState = 'sent' | 'mined' | 'final' | 'void' | 'lost';

/** A signed transaction that was or may be broadcast, stored before that: the first one, or a replacement with higher fees. */
export interface AnchorAttempt {
  readonly tx_hash: string;
  readonly raw: string;
  /** Maximum fee per unit of gas in wei, as a decimal string. */
  readonly max_fee_wei: string;
  readonly priority_fee_wei: string;
}

/** One transaction of the anchor key. The table records what was sent; only the chain shows whether a head is anchored. */
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
  /** Maximum fee in wei, which counts for the day's maximum until the fee that was paid is known. */
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
