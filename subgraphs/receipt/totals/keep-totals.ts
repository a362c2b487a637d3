import { setTimeout as sleep } from 'node:timers/promises';
import { integrate, type TotalsParts } from './integrate.ts';

/** Well within what a periodic job may take. */
const ROUND_MS_MAX = 10_000;

/**
 * Follows the log until nothing is left, for a while. It rests after each batch for as long as that took, so that a log
 * which is taken in for the first time leaves half of a core to those who pay. A process whose key signs no more leaves it to those
 * that have the next one.
 */
export async function keepTotals(parts: TotalsParts, signal: AbortSignal): Promise<void> {
  const until_ms = performance.now() + ROUND_MS_MAX;
  while (parts.issuer.standing === 'in_force' && performance.now() < until_ms && !signal.aborted) {
    const from_ms = performance.now();
    if ((await integrate(parts)) === 0) return;
    await sleep(performance.now() - from_ms, undefined, { signal }).catch(() => {});
  }
}
