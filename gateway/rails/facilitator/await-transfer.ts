import { setTimeout as sleep } from 'node:timers/promises';
import type { Payment } from '../payment.ts';
import type { Carried, HandedOver, Seen } from './facilitated-chain.ts';

/** A development chain mines at once, Base every two seconds: look soon, then less and less often. */
const POLL_MS_FIRST = 15;

/** Looks until the chain has decided, or for so long. */
export async function lookUntil<P extends Payment>(
  carried: Carried<P>,
  handed: HandedOver<P>,
  until: Patience,
): Promise<Seen> {
  const deadline_ms = performance.now() + until.wait_ms;
  for (let pause_ms = POLL_MS_FIRST; ; pause_ms = Math.min(2 * pause_ms, until.poll_ms)) {
    const seen = await carried.look(handed);
    const decided = seen.kind === 'transferred' || seen.kind === 'not_transferred';
    if (decided || until.signal.aborted || performance.now() + pause_ms > deadline_ms) return seen;
    await sleep(pause_ms, undefined, { signal: until.signal }).catch(() => {});
  }
}

export interface Patience {
  readonly wait_ms: number;
  readonly poll_ms: number;
  readonly signal: AbortSignal;
}
