import type { Database } from '../../../../subgraphs/database.ts';
import type { Hex } from '../abi.ts';
import type { BaseChain } from '../chain.ts';
import type { FeeBounds } from './fees.ts';
import type { SettlerKey } from './transaction.ts';

/** What settling stands on; nothing of it is remembered between two steps, so any process may take the next one. */
export interface Desk {
  readonly chain: BaseChain;
  readonly database: Database;
  /** By address as `settlerKey` spells it. */
  readonly keys: ReadonlyMap<string, SettlerKey>;
  readonly fee_bounds: FeeBounds;
  /** Younger attempts are left alone: their own process is looking after them. */
  readonly nudge_ms: number;
  readonly stuck_ms: number;
}

export function addresses(desk: Desk): Hex[] {
  return [...desk.keys.values()].map(key => key.address);
}
