/** Well within what a periodic job may take, with the last of its batches. */
const ROUND_MS_MAX = 10_000;

/**
 * Batch after batch as long as each is full, for a while: a round is one job of the fleet, so that what comes in faster than a
 * batch for each rest would pile up for ever. `batch` resolves with how many it took, each of which it does not take again at once.
 */
export async function whileFull(batch_max: number, batch: () => Promise<number>): Promise<void> {
  const until_ms = performance.now() + ROUND_MS_MAX;
  while ((await batch()) >= batch_max && performance.now() < until_ms);
}
