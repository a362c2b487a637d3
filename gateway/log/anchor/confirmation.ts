import type { Hex } from '../../rails/base/abi.ts';
import type { BaseChain } from '../../rails/base/chain.ts';
import { reached } from '../../rails/epoch.ts';
import type { AnchorChain, Anchored } from './anchor-chain.ts';
import { isSameAnchor, REORG_BLOCKS_MAX } from './anchored-heads.ts';
import { AnchorSearch } from './search.ts';

/**
 * What is known of a head that one answer showed: `final`, its transaction's receipt and a fresh search both show it;
 * `absent`, neither does, where no block can be replaced any more; `open`, it is too early, or the two disagree.
 */
export type Confirmation = 'final' | 'absent' | 'open';

interface ConfirmationParts {
  readonly anchors: AnchorChain;
  readonly chain: Pick<BaseChain, 'block'>;
  readonly sender: Hex;
}

/**
 * Asks again, by other questions, for a head that an answer showed. Both ways it is judged only once its block is final:
 * of several nodes behind one name, one that lags behind denies what stands. @throws ChainAway
 */
export async function confirmationOf(
  { anchors, chain, sender }: ConfirmationParts,
  head: Anchored,
  until_ms: number,
): Promise<Confirmation> {
  const newest = reached(await anchors.head());
  const final = reached(await chain.block('finalized'))?.number ?? -1;
  const receipt = reached(await anchors.receipt(head.tx_hash, sender));
  const shown = receipt?.anchored.some(each => isSameAnchor(each, head)) === true;
  const block_number = shown ? receipt.block_number : head.block_number;
  if (block_number > Math.min(final, newest)) return 'open';

  const from_block = Math.max(0, block_number - REORG_BLOCKS_MAX);
  const to_block = Math.min(newest, block_number + REORG_BLOCKS_MAX);
  const search = new AnchorSearch(anchors, sender, { from_block, to_block, wanted: 'all' });
  const found = reached(await search.run(until_ms)).some(each => isSameAnchor(each, head));
  if (shown !== found) return 'open';
  return shown ? 'final' : 'absent';
}
