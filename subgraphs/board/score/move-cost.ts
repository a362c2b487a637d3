import type { ScoreWeights } from './weights.ts';

/** Least cost of moving a score in one direction by posts of payers that have not reported on the host before. */
export interface MoveCost {
  /** Amount to spend at the endpoint, atomic USDC. */
  readonly spent: bigint;
  /** Number of clusters among which the amount is divided, because the weight of one cluster is limited. */
  readonly clusters: number;
  /** Additional cost of the stamps of their posts, atomic USDC: one stamp for each cluster. */
  readonly stamps: bigint;
}

/**
 * Costs of moving a score up and down. One is null if no amount moves the score that far in that direction, both are null if no row counts
 * at this host yet.
 */
export interface MoveCosts {
  readonly up: MoveCost | null;
  readonly down: MoveCost | null;
}

interface Standing {
  readonly good: bigint;
  readonly total: bigint;
  /** Amounts of the rows that count, in atomic USDC. */
  readonly amounts: readonly bigint[];
  /** Number of further rows that fit into the window before one replaces another. */
  readonly rows_free: number;
  /** Weight that clusters of several payers lose by their bound. They gain it back if a row is replaced that has joined the payers. */
  readonly bounded: bigint;
}

const BP = 10_000n;

/**
 * The least that has to be spent so that floor(good · 10⁴ / total) moves by `move_bp`. While the window has free places, the result is
 * exact. In a full window a new row replaces one that is no larger, and the result is a lower bound: the score never moves for less. The
 * owner of the endpoint receives what is spent there, and so pays only for the stamps.
 */
export function moveCosts(standing: Standing, weights: ScoreWeights): MoveCosts {
  const score = (standing.good * BP) / standing.total;
  const [low, high] = [score - BigInt(weights.move_bp), score + BigInt(weights.move_bp)];
  const down = low < 0n ? null : cheapest(standing, gone => weightDown(standing, gone, low));
  const up = high >= BP ? null : cheapest(standing, gone => weightUp(standing, gone, high));
  return { up: costOf(up, weights), down: costOf(down, weights) };
}

/*
 * The functions below take the total as constant when a row is replaced. If the cluster of the row is at its bound, the total does stay the
 * same, and only the good part of the row is lost, which is no more than the row's amount. Below the bound, the total falls with the row,
 * which helps less in either direction.
 */

/** Assumes that new rows are not good, and that all replaced rows were: floor((good − gone) · 10⁴ / (total + x)) ≤ low. */
function weightDown({ good, total }: Standing, replaced: bigint, low: bigint): bigint {
  const gone = least(replaced, good);
  return atLeastNone(((good - gone) * BP) / (low + 1n) - total + 1n);
}

/** Assumes that new rows are good, and that no replaced row was: floor((good + gone + x) · 10⁴ / (total + x)) ≥ high. */
function weightUp({ good, total }: Standing, replaced: bigint, high: bigint): bigint {
  const gone = least(replaced, total - good);
  return atLeastNone(ceilDiv(high * total - (good + gone) * BP, BP - high));
}

/**
 * Finds the least amount for one direction. It first fills the free places, and then tries to replace each number of the smallest rows,
 * each by a new row of at least its size.
 */
function cheapest({ amounts, rows_free, bounded }: Standing, weightWithout: (gone: bigint) => bigint): bigint {
  let spent_min = weightWithout(0n);
  let gone = bounded;
  for (const [at, amount] of [...amounts].sort((a, b) => (a < b ? -1 : 1)).entries()) {
    const places = BigInt(rows_free + at + 1) * amount;
    if (places >= spent_min) break;
    gone += amount;
    spent_min = least(spent_min, most(places, weightWithout(gone)));
  }
  return spent_min;
}

function costOf(spent: bigint | null, { cluster_amount_max, stamp_amount }: ScoreWeights): MoveCost | null {
  if (spent === null) return null;
  const clusters = ceilDiv(spent, BigInt(cluster_amount_max));
  return { spent, clusters: Number(clusters), stamps: clusters * BigInt(stamp_amount) };
}

const least = (one: bigint, other: bigint): bigint => (one < other ? one : other);
const most = (one: bigint, other: bigint): bigint => (one > other ? one : other);
const atLeastNone = (weight: bigint): bigint => most(weight, 0n);
const ceilDiv = (dividend: bigint, divisor: bigint): bigint => (dividend + divisor - 1n) / divisor;
