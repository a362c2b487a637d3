import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { limits } from '../../schema/limits.ts';

/** What can be stopped without breaking off what it is doing. */
export interface Stoppable {
  /** Says to whoever asks that nothing new is wanted here; still takes it. */
  drain(): void;
  /** Takes nothing new, brings what is under way to its end, lets go of everything. */
  close(): Promise<void>;
  /** Cuts off what can be cut off. */
  hurry(): void;
  /** Paid calls that have not come to their end. */
  readonly underway: readonly JsonObject[];
}

export interface StopOptions {
  /** How long those who spread calls have to notice, before the port is closed. */
  readonly drain_ms: number;
  /** All of it, the drain included. */
  readonly stop_ms: number;
  /** Aborted where whoever stops it will not wait. */
  readonly hurried: AbortSignal;
  readonly logger: Logger;
}

/** `left`: something still runs. */
export interface Stopped {
  readonly kind: 'closed' | 'left';
}

/**
 * A clean stop, in bounded time. Nothing is lost by that: every paid
 * call stands in the database as far as it has come, and reconcile finishes it, here at the next start or elsewhere.
 */
export async function stop(what: Stoppable, options: StopOptions): Promise<Stopped> {
  const { drain_ms, stop_ms, hurried, logger } = options;
  const from_ms = performance.now();
  logger.info({ underway: what.underway.length, drain_ms }, 'stopping');
  what.drain();
  await sleep(Math.min(drain_ms, stop_ms), null, { signal: hurried }).catch(() => {});

  const closed = what.close().then((): Stopped => ({ kind: 'closed' }));
  const ended = new AbortController();
  const patience_ms = Math.max(0, stop_ms - (performance.now() - from_ms));
  try {
    return await Promise.race([closed, outOfPatience(what, patience_ms, hurried, ended.signal)]);
  } finally {
    ended.abort();
    // Who is not waited for any more may fail unheard.
    closed.catch(() => {});
    const left = what.underway;
    if (left.length > 0) logger.warn({ left }, 'stopped in the midst of paid calls, which reconcile finishes');
  }
}

/** The time is over; or somebody hurries, and then what is nearly done has a moment. */
async function outOfPatience(
  what: Stoppable,
  patience_ms: number,
  hurried: AbortSignal,
  ended: AbortSignal,
): Promise<Stopped> {
  await sleep(patience_ms, null, { signal: AbortSignal.any([hurried, ended]) }).catch(() => {});
  if (!ended.aborted) {
    what.hurry();
    await sleep(limits.stop_hurried_ms, null, { signal: ended }).catch(() => {});
  }
  return { kind: 'left' };
}
