import type { BaseChain } from './chain.ts';

const BLOCK_SECONDS = 2;
/** A month of Base: as long as a payment may be valid. */
const BLOCKS_BACK_MAX = (31 * 24 * 3600) / BLOCK_SECONDS;
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
