import type { JsonObject } from '../../../schema/canonical-json.ts';
import { canonicalHash } from '../../../schema/canonical-json.ts';
import type { ScoreWeights } from './weights.ts';

/* Which payers count as one. */

const BP = 10_000n;

/** On its chain, and within the range that was looked at: who sent a payer money, both by their pseudonyms. */
export interface FundingEdge extends JsonObject {
  readonly funder: string;
  readonly payer: string;
  /** What it sent the payer there, digits of atomic USDC; null: of a look that did not say, and then it merges nobody. */
  readonly amount: string | null;
  /** How many wallets the funder sent money to there; null: nobody knows, and then it merges nobody. */
  readonly funded_wallets: number | null;
}

type Floor = Pick<ScoreWeights, 'funder_amount_min' | 'funder_paid_part_min_bp'>;

/**
 * Whether what a funder sent could have been for what the payer paid: a part of the most that it paid here at once, and an amount
 * below which it is dust. A payer that nobody else sent anything would else be funded by whoever sends it a millionth.
 */
export function isFunding(amount: string | null, most_paid: bigint, weights: Floor): boolean {
  if (amount === null || BigInt(amount) < BigInt(weights.funder_amount_min)) return false;
  return BigInt(amount) * BP >= most_paid * BigInt(weights.funder_paid_part_min_bp);
}

/**
 * Payers who fund each other, or whom the same wallet has funded, one hop on chain, are one. A funder of too many, or of
 * nobody knows how many, merges nobody, and neither does dust. By each payer its cluster, named by the pseudonyms of all that
 * are in it. `most_paid`: of each payer, at once, atomic USDC.
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
