import type { NetworkName } from '../../../../schema/network.ts';
import { AtomicAmountColumn, Entity, Index, PrimaryKey, Property } from '../../../table.ts';

/**
 * `sent`: committed, so it may be on the chain. `mined`: seen in a block that may yet be replaced. `final`: in a finalized block.
 * `abandoned`: can never be mined, because its chain no longer exists (a restarted development chain), or because another transaction used
 * its nonce and all its payments have expired.
 */
export type SettlementState = 'sent' | 'mined' | 'final' | 'abandoned';

/** A key that pays gas, and the next nonce that no process has taken. */
@Entity({ tableName: 'settler_key' })
export class SettlerKeyRow {
  @PrimaryKey({ type: 'text' })
  address!: string;
  @Property({ type: 'bigint' })
  nextNonce!: number;
}

/** One transaction that carries payments. The claims of the payments refer to it. Nothing here is public. */
@Entity({ tableName: 'settlement' })
@Index({ name: 'settlement_sent', properties: ['keyAddress'], where: "state = 'sent'" })
@Index({ name: 'settlement_posted', properties: ['postedAt'], where: "state = 'sent' and posted_at is not null" })
@Index({ name: 'settlement_mined', properties: ['network', 'blockNumber'], where: "state = 'mined'" })
export class SettlementRow {
  @PrimaryKey({ type: 'text' })
  settlementId!: string;
  @Property({ type: 'text', default: 'base' })
  network!: NetworkName;
  /** Address of the signing key. `facilitator` if a facilitator signs with its own key. */
  @Property({ type: 'text' })
  keyAddress!: string;
  @Property({ type: 'integer' })
  authorizations!: number;
  /** Number of the block before which none of its payments can have moved. */
  @Property({ type: 'bigint' })
  fromBlock!: number;
  /** Time from which on none of its payments can move, in seconds since the epoch. */
  @Property({ type: 'bigint' })
  validBeforeMax!: number;
  @Property({ type: 'text' })
  state!: SettlementState;
  @Property({ type: 'bigint', nullable: true })
  blockNumber!: number | null;
  @Property({ type: 'text', nullable: true })
  blockHash!: string | null;
  @Property({ type: 'Date', columnType: 'timestamptz' })
  createdAt!: Date;
  /** Number of times that it was sent to a facilitator again, after the first time. */
  @Property({ type: 'integer', default: 0 })
  posts!: number;
  /** Time at which it was last sent to a facilitator. Null if no facilitator has it. */
  @Property({ type: 'Date', columnType: 'timestamptz', nullable: true })
  postedAt!: Date | null;
  /**
   * Hash of the transaction in which a facilitator says that the payment moved. It proves nothing until the transaction is seen on the
   * chain.
   */
  @Property({ type: 'text', nullable: true })
  vouchedTx!: string | null;
  /** UTC day for which its fee counts. Null if another party pays the fee, and on Solana. */
  @Property({ type: 'string', columnType: 'date', nullable: true })
  feeDay!: string | null;
  /** Price of one ether in atomic USDC, at which its fee is computed. */
  @Property({ type: AtomicAmountColumn, nullable: true })
  ethPriceAtomic!: bigint | null;
  /** Maximum fee by what was signed, in atomic USDC. */
  @Property({ type: AtomicAmountColumn, nullable: true })
  feeMaxAtomic!: bigint | null;
  /** Fee that the day counts, in atomic USDC: the maximum, or the fee that was paid once it is mined. */
  @Property({ type: AtomicAmountColumn, nullable: true })
  feeAtomic!: bigint | null;
}

/** Sum of the fees of all settlements of one UTC day, over all processes. The fee of each settlement is in its own row. */
@Entity({ tableName: 'settlement_fee_day' })
export class SettlementFeeDay {
  @PrimaryKey({ type: 'string', columnType: 'date' })
  day!: string;
  @Property({ type: AtomicAmountColumn })
  feeAtomic!: bigint;
  @Property({ type: 'bigint' })
  authorizations!: number;
}

/**
 * A signed transaction that was or may be broadcast, stored before that: the first one, or a replacement with higher fees. For a
 * facilitator's transaction only the hash is stored, once the transaction was seen mined.
 */
@Entity({ tableName: 'settlement_attempt' })
export class SettlementAttempt {
  @PrimaryKey({ type: 'text' })
  settlementId!: string;
  @PrimaryKey({ type: 'text' })
  txHash!: string;
  @Property({ type: 'bigint' })
  nonce!: number;
  @Property({ type: 'text' })
  raw!: string;
  @Property({ type: AtomicAmountColumn })
  maxFeeWei!: bigint;
  @Property({ type: AtomicAmountColumn })
  priorityFeeWei!: bigint;
  @Property({ type: 'Date', columnType: 'timestamptz' })
  createdAt!: Date;
}
