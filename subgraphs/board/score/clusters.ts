import type { JsonObject } from '../../../schema/canonical-json.ts';
import { canonicalHash } from '../../../schema/canonical-json.ts';

/** On its chain, and within the range that was looked at: who sent a payer money, both by their pseudonyms. */
export interface FundingEdge extends JsonObject {
  readonly funder: string;
  readonly payer: string;
  /** How many wallets the funder sent money to there; null: nobody knows, and then it merges nobody. */
  readonly funded_wallets: number | null;
}

/**
 * Payers who fund each other, or whom the same wallet has funded, one hop on chain, are one. A funder of too many, or of
 * nobody knows how many, merges nobody. By each payer its cluster, named by the pseudonyms of all that are in it.
 */
export function clustersOf(
  payers: readonly string[],
  edges: readonly FundingEdge[],
  funder_wallets_max: number,
): ReadonlyMap<string, string> {
  const parents = new Map<string, string>();
  const rootOf = (wallet: string): string => {
    let root = wallet;
    for (let next = parents.get(root); next !== undefined; next = parents.get(root)) root = next;
    return root;
  };
  const known = new Set(payers);
  for (const { funder, payer, funded_wallets } of edges) {
    if (!known.has(payer) || funded_wallets === null || funded_wallets > funder_wallets_max) continue;
    const [one, other] = [rootOf(funder), rootOf(payer)];
    if (one !== other) parents.set(one, other);
  }
  const members = Map.groupBy([...known].sort(), rootOf);
  return new Map(
    [...members.values()].flatMap(wallets => {
      const cluster = `cluster_${canonicalHash(wallets).slice(0, 24)}`;
      return wallets.map(wallet => [wallet, cluster] as const);
    }),
  );
}
