import type { JsonObject } from '../../../schema/canonical-json.ts';
import { canonicalHash } from '../../../schema/canonical-json.ts';
import type { ScoreWeights } from './weights.ts';

/* Groups payers that count as one cluster. */

const BP = 10_000n;

/**
 * Money that a funder sent to a payer on the payer's chain, within the searched range of blocks. Both wallets are given by their
 * pseudonyms.
 */
export interface FundingEdge extends JsonObject {
  readonly funder: string;
  readonly payer: string;
  /**
   * Amount sent to the payer, digits of atomic USDC. Null if the search did not record it; the funder then merges no
   * payers.
   */
  readonly amount: string | null;
  /** Number of wallets that the funder sent money to. Null if unknown; the funder then merges no payers. */
  readonly funded_wallets: number | null;
}

type Floor = Pick<ScoreWeights, 'funder_amount_min' | 'funder_paid_part_min_bp'>;

/**
 * Whether a funder's amount could have paid for what the payer spent: it must be at least a part of the payer's largest payment here, and
 * more than dust. Without this bound, anyone could become the funder of a payer by sending it a millionth.
 */
export function isFunding(amount: string | null, most_paid: bigint, weights: Floor): boolean {
  if (amount === null || BigInt(amount) < BigInt(weights.funder_amount_min)) return false;
  return BigInt(amount) * BP >= most_paid * BigInt(weights.funder_paid_part_min_bp);
}

/**
 * Joins payers that fund each other, or share a funder, one hop on chain, to one cluster. Dust merges no payers, and neither do funders of
 * too many wallets or of an unknown number. Returns the cluster of each payer; its id is derived from the pseudonyms of its members.
 * `most_paid`: the largest payment of each payer, atomic USDC.
 */
export function clustersOf(
  most_paid: ReadonlyMap<string, bigint>,
  edges: readonly FundingEdge[],
  weights: Floor & Pick<ScoreWeights, 'funder_wallets_max'>,
): ReadonlyMap<string, string> {
  const parents = new Map<string, string>();
  const rootOf = (wallet: string): string => {
    let root = wallet;
    for (let next = parents.get(root); next !== undefined; next = parents.get(root)) root = next;
    return root;
  };
  for (const { funder, payer, funded_wallets, amount } of edges) {
    const most = most_paid.get(payer);
    if (most === undefined || !isFunding(amount, most, weights)) continue;
    if (funded_wallets === null || funded_wallets > weights.funder_wallets_max) continue;
    const [one, other] = [rootOf(funder), rootOf(payer)];
    if (one !== other) parents.set(one, other);
  }
  const members = Map.groupBy([...most_paid.keys()].sort(), rootOf);
  return new Map(
    [...members.values()].flatMap(wallets => {
      const cluster = `cluster_${canonicalHash(wallets).slice(0, 24)}`;
      return wallets.map(wallet => [wallet, cluster] as const);
    }),
  );
}
