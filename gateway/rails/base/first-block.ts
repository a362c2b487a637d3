import { limits } from '../../../schema/limits.ts';
import type { ChainBlock } from './base-shapes.ts';
import type { BaseChain } from './chain.ts';

const BLOCK_SECONDS = 2;
/** A month of Base: as long as a payment may be valid. */
const SECONDS_BACK_MAX = limits.payment_validity_seconds_max;
const BLOCKS_BACK_MAX = SECONDS_BACK_MAX / BLOCK_SECONDS;
const BLOCKS_MARGIN = 300;

/**
 * Where to begin looking for a payment that cannot have moved before a time: `validAfter` (EIP-3009; official clients
 * set it to ten minutes ago), or the moment at which it was seen unused. Null where the head cannot be read.
 */
export async function searchFrom(chain: BaseChain, since_seconds: number): Promise<number | null> {
  const head = await chain.block('latest');
  if (head.kind !== 'ok' || head.value === null) return null;
  const age_blocks = Math.ceil((head.value.timestamp_seconds - since_seconds) / BLOCK_SECONDS) + BLOCKS_MARGIN;
  return Math.max(0, head.value.number - Math.min(Math.max(age_blocks, BLOCKS_MARGIN), BLOCKS_BACK_MAX));
}

/** What a search for something since then has to reach at least: no further back than it ever goes. */
export function searchedSince(since_seconds: number, head: Pick<ChainBlock, 'timestamp_seconds'>): number {
  return Math.max(since_seconds, head.timestamp_seconds - SECONDS_BACK_MAX);
}
