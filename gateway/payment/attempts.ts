import type { OpenSettlement } from '../../subgraphs/receipt/index.ts';
import type { Hex } from './abi.ts';
import type { ChainReceipt } from './base-shapes.ts';
import type { BaseChain } from './chain.ts';
import { map } from './reached.ts';
import type { Reached } from './rpc.ts';

/** Every transaction that may carry a settlement: at most one of those that share a nonce is ever mined. */
export function hashesOf({ attempts }: OpenSettlement): Hex[] {
  return attempts.map(({ tx_hash }) => tx_hash as Hex);
}

/** Looks up the receipts of all of them at once; the answer finds the mined one of each settlement. */
export async function findMined(
  chain: BaseChain,
  settlements: readonly OpenSettlement[],
): Promise<Reached<(settlement: OpenSettlement) => ChainReceipt | null>> {
  return map(await chain.receipts(settlements.flatMap(hashesOf)), receipts => {
    const mined = receipts.filter(receipt => receipt !== null);
    const byHash = new Map(mined.map(receipt => [receipt.tx_hash, receipt]));
    return settlement =>
      hashesOf(settlement)
        .map(hash => byHash.get(hash))
        .find(it => it !== undefined) ?? null;
  });
}
