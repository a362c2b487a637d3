import type { ScoreWeights } from './weights.ts';

/** What it takes to move a score one way, by rows of payers that are none's of those who have spoken. */
export interface MoveCost {
  /** What has to be spent at the endpoint, atomic USDC. */
  readonly spent: bigint;
  /** Of how many clusters: one weighs no more than it may. */
  readonly clusters: number;
  /** The stamps of their posts beside it, atomic USDC: one for each cluster. */
  readonly stamps: bigint;
}

/** Null: no amount moves it so far that way, or no row has counted at this host yet. */
export interface MoveCosts {
  readonly up: MoveCost | null;
  readonly down: MoveCost | null;
}

interface Standing {
  readonly good: bigint;
  readonly total: bigint;
  /** Of the rows that stand in the places of the window, atomic USDC. */
  readonly amounts: readonly bigint[];
  /** How many more have a place before one takes another's. */
  readonly rows_free: number;
}

const BP = 10_000n;

/**
 * The least that has to be spent so that floor(good / total) moves by the stated part, as long as every row has a place. Where there
 * are no more places, a row that comes takes that of one that is no larger, and the score may move for less: it never moves
 * for less than what is named. It is what it costs whoever does not own the endpoint; who does gets back what was spent there, and
 * pays the stamps alone.
 */
export function moveCosts(standing: Standing, weights: ScoreWeights): MoveCosts {
  const score = (standing.good * BP) / standing.total;
  const [low, high] = [score - BigInt(weights.move_bp), score + BigInt(weights.move_bp)];
  const down = low < 0n ? null : cheapest(standing, gone => weightDown(standing, gone, low));
  const up = high >= BP ? null : cheapest(standing, gone => weightUp(standing, gone, high));
  return { up: costOf(up, weights), down: costOf(down, weights) };
}

/** Nothing of it is good, and what has gone was: floor((good − gone) · 10⁴ / (total − gone + x)) ≤ low. */
function weightDown({ good, total }: Standing, pushed_out: bigint, low: bigint): bigint {
  const gone = least(pushed_out, good);
  return atLeastNone(((good - gone) * BP) / (low + 1n) - (total - gone) + 1n);
}

/** All of it is good, and nothing of what has gone was: floor((good + x) · 10⁴ / (total − gone + x)) ≥ high. */
function weightUp({ good, total }: Standing, pushed_out: bigint, high: bigint): bigint {
  const gone = least(pushed_out, total - good);
  return atLeastNone(ceilDiv(high * (total - gone) - good * BP, BP - high));
}

/** However many of the smallest rows are pushed out first: each by one that is as large, behind those that fill the free places. */
function cheapest({ amounts, rows_free }: Standing, weightWithout: (gone: bigint) => bigint): bigint {
  let spent_min = weightWithout(0n);
  let gone = 0n;
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
