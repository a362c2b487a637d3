import type { Clock } from '../../../../subgraphs/clock.ts';
import type { Database } from '../../../../subgraphs/database.ts';
import type { SettlerParts, SettlerTimes } from '../../settler.ts';
import type { Hex } from '../abi.ts';
import type { BaseChain } from '../chain.ts';
import type { FeeBounds, SettleItem } from './batch.ts';
import type { PriceSource } from './quotes.ts';
import type { SettlerKey } from './transaction.ts';

/** What a settler on Base is opened with. */
export interface SettlerOptions<I extends SettleItem> extends SettlerParts<I>, SettlerTimes {
  readonly chain: BaseChain;
  /** Private keys that pay gas; several processes may share them. */
  readonly keys: readonly string[];
  readonly clock: Clock;
  /** Above these nothing is sent for the first time. */
  readonly fee_bounds: FeeBounds;
  readonly eth_price: PriceSource;
  /** One that the market has outbid for this long is replaced by one with higher fees. */
  readonly stuck_ms: number;
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
