import { scoreLimits } from '../../../schema/limits.ts';

/*
 * Selects the posts of a host that count, if there are more than are read: those with the largest amounts, and among equal amounts the
 * newest. So displacing a row costs as much as that row weighs. Pure.
 */

export interface WeighablePost {
  readonly post_id: string;
  /** Amount in atomic USDC. */
  readonly amount: bigint;
  readonly payer: string | null;
}

type WindowBounds = Readonly<Record<'rows_max' | 'rows_per_payer_max' | 'candidates_max', number>>;

export interface ScoreWindow {
  readonly post_ids: readonly string[];
  /** Number of further rows that fit before one replaces another. */
  readonly rows_free: number;
}

/** Chooses the rows of the window. `candidates`: the posts with the largest amounts, at most `candidates_max`. */
export function fillWindow(candidates: readonly WeighablePost[], bounds: WindowBounds = scoreLimits): ScoreWindow {
  const taken = new Map<string | null, number>();
  const post_ids: string[] = [];
  for (const { post_id, payer } of [...candidates].sort(heavier)) {
    const nth = (taken.get(payer) ?? 0) + 1;
    if (nth > bounds.rows_per_payer_max) continue;
    if (post_ids.length === bounds.rows_max) break;
    taken.set(payer, nth);
    post_ids.push(post_id);
  }
  const crowded = candidates.length >= bounds.candidates_max;
  return { post_ids, rows_free: crowded ? 0 : bounds.rows_max - post_ids.length };
}

function heavier(one: WeighablePost, other: WeighablePost): number {
  if (one.amount !== other.amount) return one.amount > other.amount ? -1 : 1;
  return one.post_id > other.post_id ? -1 : 1;
}
