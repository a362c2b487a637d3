import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { limits } from '../../schema/limits.ts';
import type { Config } from '../config/read-config.ts';
import { lookInTime } from './metrics.ts';

/* A clean stop in bounded time: not ready, no new connections, calls in flight to their end, then all that was opened. */

interface SignalOptions {
  readonly config: Pick<Config, 'drain_ms' | 'stop_ms' | 'profile'>;
  readonly logger: Logger;
  /** Once it is stopped: what it stood on. */
  afterwards(): Promise<void>;
}

/**
 * SIGTERM or SIGINT stops it, another one hurries: the other of the two, or the same once more than its echo. Exit code 0,
 * but where something could not be closed.
 */
export function stopOnSignals(what: Stoppable, { config, logger, afterwards }: SignalOptions): void {
  const { stop_ms, profile } = config;
  const drain_ms = config.drain_ms ?? (profile === 'development' ? 0 : limits.drain_ms);
  const hurry = new AbortController();
  let first: { readonly signal: NodeJS.Signals; readonly at_ms: number } | null = null;
  const stopped = async () => {
    try {
      const { kind } = await stop(what, { drain_ms, stop_ms, hurried: hurry.signal, logger });
      if (kind === 'closed') return await afterwards();
      await lookInTime(afterwards(), limits.stop_hurried_ms);
    } catch (error) {
      logger.error({ err: error }, 'not everything could be stopped');
      process.exitCode = 1;
    }
    // Something still runs, and is not waited for.
    process.exit();
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      const now_ms = performance.now();
      if (first === null) {
        first = { signal, at_ms: now_ms };
        void stopped();
      } else if (signal !== first.signal || now_ms - first.at_ms > limits.signal_echo_ms) hurry.abort();
    });
  }
}

/** What can be stopped without breaking off what it is doing. */
interface Stoppable {
  /** Says to whoever asks that nothing new is wanted here; still takes it. */
  drain(): void;
  /** Takes nothing new, brings what is under way to its end, lets go of everything. */
  close(): Promise<void>;
  /** Cuts off what can be cut off. */
  hurry(): void;
  /** Paid calls that have not come to their end. */
  readonly underway: readonly JsonObject[];
}

interface StopOptions {
  /** How long those who spread calls have to notice, before the port is closed. */
  readonly drain_ms: number;
  /** All of it, the drain included. */
  readonly stop_ms: number;
  /** Aborted where whoever stops it will not wait. */
  readonly hurried: AbortSignal;
  readonly logger: Logger;
}

/** `left`: something still runs. */
interface Stopped {
  readonly kind: 'closed' | 'left';
}

/**
 * Nothing is lost where the time is too short: every paid call stands in the database as far as it has come, and reconcile
 * finishes it, here at the next start or elsewhere.
 */
async function stop(what: Stoppable, options: StopOptions): Promise<Stopped> {
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
