import type { Clock, Random } from '../../../../subgraphs/clock.ts';
import type { Database } from '../../../../subgraphs/database.ts';
import type { CommitSettling, SettlerFaults } from '../../settler.ts';
import type { Hex } from '../abi.ts';
import type { BaseChain } from '../chain.ts';
import type { FeeBounds, SettleItem } from './batch.ts';
import type { PriceSource } from './quotes.ts';
import type { SettlerKey } from './transaction.ts';

/** What a settler on Base is opened with. */
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
  readonly faults?: SettlerFaults | null;
  /** For the log: what went wrong without changing any outcome. */
  readonly trouble?: (error: unknown) => void;
}

/** What settling stands on; nothing of it is remembered between two steps, so any process may take the next one. */
export interface SettlingParts {
  readonly chain: BaseChain;
  readonly database: Database;
  /** By address as `settlerKey` spells it. */
  readonly keys: ReadonlyMap<string, SettlerKey>;
  readonly fee_bounds: FeeBounds;
  /** Younger attempts are left alone: their own process is looking after them. */
  readonly nudge_ms: number;
  readonly stuck_ms: number;
}

export function addresses(parts: SettlingParts): Hex[] {
  return [...parts.keys.values()].map(key => key.address);
}
