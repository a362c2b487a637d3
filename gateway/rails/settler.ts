import type { Clock, Random } from '../../subgraphs/clock.ts';
import type { Database, Tx } from '../../subgraphs/database.ts';
import type { BaseChain } from './base/chain.ts';
import type { FeeBounds } from './base/settle/batch-fee.ts';
import type { PriceSource } from './base/settle/price-watch.ts';
import type { SettleItem } from './base/settle/submission.ts';
import type { NotSent, Settlement } from './outcome.ts';

/** What the claims of a batch are told when they become `settling`. */
export interface Sending {
  readonly settlement_id: string;
  /** The block before which none of them can have moved. */
  readonly from_block: number;
  /**
   * Settlements that failed as a whole, some of whose claims are sent again in this one: a claim that is `settling` by
   * one of them (and by no other) is pointed at the new one. Empty for claims that are sent for the first time.
   */
  readonly replaces: readonly string[];
}

/**
 * Moves the claims of these items to `settling`, in the transaction that journals the signed bytes; returns the keys
 * that moved. The others are left out of the batch. It locks claims, and runs before anything of the settler's is locked.
 */
export type CommitSettling<I> = (tx: Tx, items: readonly I[], sending: Sending) => Promise<ReadonlySet<string>>;

/** Submits payments. Never throws: every way in which it can end is a Settlement. */
export interface Settler<I = SettleItem> {
  /** Concurrency: what is handed in while a transaction is under way goes together in the next one. */
  settle(item: I): Promise<Settlement>;
  /** Sends again what was committed and not seen mined, by whichever process; for a timer, and at start. */
  rebroadcast(): Promise<void>;
  /** Why nothing at all would be sent just now, so that nobody is worked for; null where that is not known. */
  readonly pause?: NotSent['reason'] | null;
  /** Where somebody else has to be reached for it, beside the chain: whether he is. */
  reachable?(): Promise<boolean>;
  /** Stops watching: what was not sent is `not_sent`, what was is `unknown`. */
  close(): Promise<void>;
}

/** Named points at which a test may stop the process. */
export interface SettlerFaults {
  reach(name: 'in_settling' | 'after_settling' | 'after_broadcast'): Promise<void>;
}

export interface SettlerOptions<I extends SettleItem> {
  readonly chain: BaseChain;
  readonly database: Database;
  /** Private keys that pay gas; several processes may share them. */
  readonly keys: readonly string[];
  readonly clock: Clock;
  readonly random: Random;
  readonly commitSettling: CommitSettling<I>;
  /** Above these nothing is sent for the first time. */
  readonly fee_bounds: FeeBounds;
  readonly eth_price: PriceSource;
  /** After this a caller is told `unknown`; the transaction is watched on. */
  readonly wait_ms: number;
  /** Receipts are asked for at this interval, and faster in a transaction's first moments. */
  readonly poll_ms: number;
  /** A transaction not mined after this is sent again, and with it what holds up its key's nonces. */
  readonly nudge_ms: number;
  /** One that the market has outbid for this long is replaced by one with higher fees. */
  readonly stuck_ms: number;
  readonly faults?: SettlerFaults;
  /** For the log: what went wrong without changing any outcome. */
  readonly trouble?: (error: unknown) => void;
}

export const settlerDefaults = { wait_ms: 20_000, poll_ms: 500, nudge_ms: 2_000, stuck_ms: 15_000 } as const;
