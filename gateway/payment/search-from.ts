import type { Authorization } from './authorization.ts';
import type { BaseChain } from './chain.ts';

const BLOCK_SECONDS = 2;
/** A day of Base: nobody is waited for who used a payment longer ago and asks for its work now. */
const BLOCKS_BACK_MAX = 43_200;
const BLOCKS_MARGIN = 300;

/**
 * Where to begin looking for a payment that somebody else submitted: no block before `validAfter` can have taken it
 * (EIP-3009), and official clients set that to ten minutes ago. Null where the head cannot be read.
 */
export async function searchFrom(chain: BaseChain, { valid_after_seconds }: Authorization): Promise<number | null> {
  const head = await chain.block('latest');
  if (head.kind !== 'ok' || head.value === null) return null;
  const age_blocks = Math.ceil((head.value.timestamp_seconds - valid_after_seconds) / BLOCK_SECONDS) + BLOCKS_MARGIN;
  return Math.max(0, head.value.number - Math.min(Math.max(age_blocks, BLOCKS_MARGIN), BLOCKS_BACK_MAX));
}
