import type { NetworkName } from '../../../../schema/network.ts';
import { AtomicAmountColumn, Entity, Index, PrimaryKey, Property } from '../../../table.ts';

/**
 * `sent`: committed, so it may be on the chain. `mined`: seen in a block that may yet be replaced. `final`: behind the
 * finalized block. `abandoned`: can never be mined, because its chain is gone (a restarted development chain), or
 * because another transaction used its nonce and all its payments have expired.
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

/** One transaction that carries payments; its claims name it. Nothing here is public. */
@Entity({ tableName: 'settlement' })
@Index({ name: 'settlement_sent', properties: ['keyAddress'], where: "state = 'sent'" })
@Index({ name: 'settlement_posted', properties: ['postedAt'], where: "state = 'sent' and posted_at is not null" })
@Index({ name: 'settlement_mined', properties: ['network', 'blockNumber'], where: "state = 'mined'" })
export class SettlementRow {
  @PrimaryKey({ type: 'text' })
  settlementId!: string;
  @Property({ type: 'text', default: 'base' })
  network!: NetworkName;
  /** Signer; `facilitator` if the key is not this service's. */
  @Property({ type: 'text' })
  keyAddress!: string;
  @Property({ type: 'integer' })
  authorizations!: number;
  /** The block before which none of its payments can have moved. */
  @Property({ type: 'bigint' })
  fromBlock!: number;
  /** Seconds since the epoch from which on none of its payments can move. */
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
  /** How often it was handed to a facilitator after the first time, and when last; null if no facilitator has it. */
  @Property({ type: 'integer', default: 0 })
  posts!: number;
  @Property({ type: 'Date', columnType: 'timestamptz', nullable: true })
  postedAt!: Date | null;
  /** The transaction in which a facilitator says that it moved; believed only once the chain shows it. */
  @Property({ type: 'text', nullable: true })
  vouchedTx!: string | null;
  /** UTC day that counts its fee. Null if another party pays it, and on Solana. */
  @Property({ type: 'string', columnType: 'date', nullable: true })
  feeDay!: string | null;
  /** Atomic USDC for one ether, by which its fee is computed. */
  @Property({ type: AtomicAmountColumn, nullable: true })
  ethPriceAtomic!: bigint | null;
  /** What it may cost by what was signed, and what the day counts for it: the same, or once it is mined the fee that was paid. */
  @Property({ type: AtomicAmountColumn, nullable: true })
  feeMaxAtomic!: bigint | null;
  @Property({ type: AtomicAmountColumn, nullable: true })
  feeAtomic!: bigint | null;
}

/** Fees of the settlements of one UTC day, over all processes. A counter: the fee of each settlement is in its own row. */
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
 * The bytes that were or may be broadcast, written before that: the first, and its replacements with higher fees. Of a facilitator's
 * transaction only the hash is known, and only once it was seen mined.
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
