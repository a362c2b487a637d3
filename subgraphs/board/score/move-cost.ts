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
}

const BP = 10_000n;

/**
 * The least weight that has to be added so that floor(good / total) moves by the stated part. Down, nothing of it is good:
 * floor(good · 10⁴ / (total + x)) ≤ s − m; up, all of it is: floor((good + x) · 10⁴ / (total + x)) ≥ s + m. It is what it costs
 * whoever does not own the endpoint; who does gets back what was spent there, and pays the stamps alone.
 */
export function moveCosts({ good, total }: Standing, weights: ScoreWeights): MoveCosts {
  const [score, move] = [(good * BP) / total, BigInt(weights.move_bp)];
  const [low, high] = [score - move, score + move];
  const down = low < 0n ? null : (good * BP) / (low + 1n) - total + 1n;
  const up = high >= BP ? null : ceilDiv(high * total - good * BP, BP - high);
  return { up: costOf(up, weights), down: costOf(down, weights) };
}

function costOf(spent: bigint | null, { cluster_amount_max, stamp_amount }: ScoreWeights): MoveCost | null {
  if (spent === null) return null;
  const clusters = ceilDiv(spent, BigInt(cluster_amount_max));
  return { spent, clusters: Number(clusters), stamps: clusters * BigInt(stamp_amount) };
}

const ceilDiv = (dividend: bigint, divisor: bigint): bigint => (dividend + divisor - 1n) / divisor;
