import type { UnscoredReason, ZeroReason } from '../../../schema/board/score.ts';
import { canonicalHash, canonicalJson, type JsonObject } from '../../../schema/canonical-json.ts';
import { clustersOf, type FundingEdge } from './clusters.ts';
import { type MoveCosts, moveCosts } from './move-cost.ts';
import { type ScoreWeights, scoreWeights } from './weights.ts';

/*
 * The score of an endpoint's host, made only from rows that anyone can look up. Pure, in whole numbers, and independent of the order of the
 * rows, so that anyone can compute it again from the published inputs.
 */

/** One published post. `payer` is the pseudonym of the wallet that paid the cited receipt. Null if none is known. */
export interface ScoreRow extends JsonObject {
  readonly post_id: string;
  readonly outcome: keyof ScoreWeights['outcome_bp'];
  /** Amount of the payment that backs the post, digits of atomic units of `rail`. */
  readonly amount: string;
  readonly rail: string;
  readonly backing: 'spend-backed' | 'stamp-backed';
  readonly host_basis: 'signed' | 'declared';
  /**
   * Whether the payment went to this service. For a payment to another party, the paid wallet itself states its host, and that wallet may
   * belong to the payer.
   */
  readonly paid_here: boolean;
  /** Whether the cited receipt is undamaged and the payment is proven. */
  readonly proven: boolean;
  /** Whether payer and payee of the cited receipt are known to be the same party, or the author or the payer is this service. */
  readonly self_dealt: boolean;
  readonly payer: string | null;
}

/** All inputs of the rule. */
export interface ScoreInputs {
  readonly rows: readonly ScoreRow[];
  readonly edges: readonly FundingEdge[];
  /** Number of further rows with weight that fit into the window. */
  readonly rows_free: number;
}

export interface ScoredRow {
  readonly post_id: string;
  readonly cluster: string | null;
  readonly zero_because: ZeroReason | null;
}

/** Payers that count as one, and their common weight, in atomic USDC. */
export interface ScoredCluster {
  readonly cluster: string;
  readonly payers: number;
  readonly posts: number;
  readonly weight: bigint;
  /** Part of the weight that counts in favour of the endpoint. */
  readonly good: bigint;
}

/**
 * Version of this rule. Version 1 gave a host without counted rows a score of 5,000. Version 2 stated a too high `cost_to_move` for a full
 * window if the replaced row came from a cluster at its bound.
 */
export const SCORE_RULE_VERSION = 3;

export interface Score {
  /** Score in basis points, from 0 to 10,000, which is the best. Null if no row counts, because nothing is known then. */
  readonly score_bp: number | null;
  /** Reason why there is no score. Null if there is one. */
  readonly unscored_because: UnscoredReason | null;
  readonly rows: readonly ScoredRow[];
  readonly clusters: readonly ScoredCluster[];
  readonly cost_to_move: MoveCosts;
  readonly edges_hash: string;
}

const BP = 10_000n;

export function scoreOf({ rows, edges, rows_free }: ScoreInputs, weights: ScoreWeights = scoreWeights): Score {
  const reasons = new Map(rows.map(row => [row.post_id, zeroReason(row, weights)]));
  const counted = rows.filter(row => reasons.get(row.post_id) === null);
  const clusters = clustersOf(mostPaid(counted), edges, weights);
  const scored = weighClusters(counted, clusters, weights);
  const prior = BigInt(weights.prior_amount);
  const total = scored.reduce((sum, { weight }) => sum + weight, prior);
  const good = scored.reduce((sum, cluster) => sum + cluster.good, (prior * BigInt(weights.prior_bp)) / BP);
  return {
    score_bp: counted.length === 0 ? null : Number((good * BP) / total),
    unscored_because: counted.length > 0 ? null : rows.length === 0 ? 'no_reports' : 'no_accepted_evidence',
    rows: sortByKey(rows, ({ post_id }) => post_id).map(({ post_id, payer }) => {
      const zero_because = reasons.get(post_id) ?? null;
      return { post_id, zero_because, cluster: zero_because === null && payer ? (clusters.get(payer) ?? null) : null };
    }),
    clusters: scored,
    // If no row counts, it is unknown whether any row can count, so a price would be a guess.
    cost_to_move:
      counted.length === 0
        ? { up: null, down: null }
        : moveCosts(
            {
              good,
              total,
              rows_free,
              bounded: lostToBounds(counted, scored, clusters),
              amounts: counted.map(({ amount }) => BigInt(amount)),
            },
            weights,
          ),
    edges_hash: canonicalHash(edgesInOrder(edges).map(edge => ({ ...edge }))),
  };
}

/** The largest single payment of each payer, atomic units. */
export function mostPaid(rows: readonly Pick<ScoreRow, 'payer' | 'amount'>[]): ReadonlyMap<string, bigint> {
  const most = new Map<string, bigint>();
  for (const { payer, amount } of rows)
    if (payer !== null && BigInt(amount) >= (most.get(payer) ?? 0n)) most.set(payer, BigInt(amount));
  return most;
}

function zeroReason(row: ScoreRow, { row_amount_min }: ScoreWeights): ZeroReason | null {
  const { backing, host_basis, paid_here, proven, payer, amount, rail, self_dealt } = row;
  if (host_basis !== 'signed') return 'declared';
  if (backing === 'spend-backed' && !paid_here) return 'paid_elsewhere';
  if (backing !== 'spend-backed' || !proven || payer === null || BigInt(amount) <= 0n) return 'unproven';
  if (rail !== 'usdc') return 'other_rail';
  if (BigInt(amount) < BigInt(row_amount_min)) return 'too_little';
  return self_dealt ? 'self_dealt' : null;
}

/**
 * Computes one weight for each cluster, however many posts and wallets it has. The weight is limited, and the rows share it in proportion
 * to their amounts.
 */
function weighClusters(
  rows: readonly ScoreRow[],
  clusters: ReadonlyMap<string, string>,
  { outcome_bp, cluster_amount_max }: ScoreWeights,
): readonly ScoredCluster[] {
  const of = Map.groupBy(rows, ({ payer }) => clusters.get(payer ?? '') ?? '');
  const scored = [...of].map(([cluster, members]) => {
    const amount = members.reduce((sum, row) => sum + BigInt(row.amount), 0n);
    const spoken = members.reduce((sum, row) => sum + BigInt(row.amount) * BigInt(outcome_bp[row.outcome]), 0n);
    const max = BigInt(cluster_amount_max);
    const weight = amount < max ? amount : max;
    const payers = new Set(members.map(({ payer }) => payer)).size;
    return { cluster, payers, posts: members.length, weight, good: (weight * spoken) / (amount * BP) };
  });
  return sortByKey(scored, ({ cluster }) => cluster);
}

/**
 * Upper bound of the weight that clusters of several payers would gain if their payers counted separately: what their bound takes away, and
 * one unit for each rounding.
 */
function lostToBounds(
  rows: readonly ScoreRow[],
  scored: readonly ScoredCluster[],
  clusters: ReadonlyMap<string, string>,
): bigint {
  const joined = new Map(scored.filter(({ payers }) => payers > 1).map(it => [it.cluster, it]));
  const spent = rows.filter(({ payer }) => joined.has(clusters.get(payer ?? '') ?? ''));
  return [...joined.values()].reduce(
    (sum, { weight, payers }) => sum - weight + BigInt(payers),
    spent.reduce((sum, { amount }) => sum + BigInt(amount), 0n),
  );
}

/** The edges in the order in which they are published and hashed. Their hash is the SHA-256 of the canonical JSON of this list. */
export function edgesInOrder(edges: readonly FundingEdge[]): readonly FundingEdge[] {
  return sortByKey(edges, canonicalJson);
}

function sortByKey<T>(list: readonly T[], key: (item: T) => string): readonly T[] {
  return [...list].sort((a, b) => (key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : 0));
}
