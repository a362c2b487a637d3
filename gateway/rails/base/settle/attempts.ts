import { type MinedBlock } from '../../../../subgraphs/receipt/claim/settlement/journal.ts';
import { type OpenSettlement } from '../../../../subgraphs/receipt/claim/settlement/read.ts';
import type { Hex } from '../abi.ts';
import type { BaseChain } from '../chain.ts';

/** Where the chain has a settlement; `unseen`: the node did not say of every transaction that may carry it. */
export type Sighting =
  | { readonly kind: 'mined'; readonly receipt: MinedBlock }
  | { readonly kind: 'absent' }
  | { readonly kind: 'unseen' };

/** Every transaction that may carry a settlement: at most one of those that share a nonce is ever mined. */
export function hashesOf({ attempts }: OpenSettlement): Hex[] {
  return attempts.map(({ tx_hash }) => tx_hash as Hex);
}

/** Looks up the receipts of all of them at once; the answer says where each settlement is. */
export async function findMined(
  chain: BaseChain,
  settlements: readonly OpenSettlement[],
): Promise<(settlement: OpenSettlement) => Sighting> {
  const hashes = settlements.flatMap(hashesOf);
  const receipts = await chain.receipts(hashes);
  const byHash = new Map(receipts.map((receipt, index) => [hashes[index], receipt]));
  return settlement => {
    const own = hashesOf(settlement).map(hash => byHash.get(hash));
    for (const receipt of own)
      if (receipt?.kind === 'ok' && receipt.value) return { kind: 'mined', receipt: receipt.value };
    return own.every(receipt => receipt?.kind === 'ok') ? { kind: 'absent' } : { kind: 'unseen' };
  };
}
