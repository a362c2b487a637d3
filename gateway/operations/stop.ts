import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { limits } from '../../schema/limits.ts';
import type { Config } from '../config/read-config.ts';
import { lookInTime } from './metrics.ts';

/*
 * A clean stop in limited time: the process reports not ready, accepts no new connections, finishes calls in progress, and closes
 * everything.
 */

interface SignalOptions {
  readonly config: Pick<Config, 'drain_ms' | 'stop_ms' | 'profile'>;
  readonly logger: Logger;
  /** Stops the services that the process depends on, after the process has stopped its own work. */
  afterwards(): Promise<void>;
}

/**
 * Stops the process on SIGTERM or SIGINT. A second signal hurries the stop: the other of the two, or the same one if it comes too late to
 * be an echo of the first. The exit code is 0 unless something could not be closed.
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
      logger.error({ err: error }, 'an error occurred while the process stopped, so it exits with code 1');
      process.exitCode = 1;
    }
    // Work that still runs is not waited for.
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

/** A service that can stop without interrupting its work. */
interface Stoppable {
  /** Reports not ready, but still accepts requests. */
  drain(): void;
  /** Accepts no new requests, finishes those in progress, and closes everything. */
  close(): Promise<void>;
  /** Interrupts the work that can be interrupted. */
  hurry(): void;
  /** Paid calls that have not ended. */
  readonly underway: readonly JsonObject[];
}

interface StopOptions {
  /** Time for load balancers to notice the stop before the port is closed. */
  readonly drain_ms: number;
  /** Total time of the stop, the drain included. */
  readonly stop_ms: number;
  /** Aborted by a second signal. */
  readonly hurried: AbortSignal;
  readonly logger: Logger;
}

/** `left`: some work still runs. */
interface StopOutcome {
  readonly kind: 'closed' | 'left';
}

/**
 * Stops a service in limited time. Nothing is lost if the time is too short: the database has the state of every paid call, and reconcile
 * finishes the call, here at the next start or in another process.
 */
async function stop(what: Stoppable, options: StopOptions): Promise<StopOutcome> {
  const { drain_ms, stop_ms, hurried, logger } = options;
  const from_ms = performance.now();
  logger.info({ underway: what.underway.length, drain_ms }, 'stopping');
  what.drain();
  await sleep(Math.min(drain_ms, stop_ms), null, { signal: hurried }).catch(() => {});

  const closed = what.close().then((): StopOutcome => ({ kind: 'closed' }));
  const ended = new AbortController();
  const patience_ms = Math.max(0, stop_ms - (performance.now() - from_ms));
  try {
    return await Promise.race([closed, outOfPatience(what, patience_ms, hurried, ended.signal)]);
  } finally {
    ended.abort();
    // The closing is no longer awaited, so its failure must not be an unhandled rejection.
    closed.catch(() => {});
    const left = what.underway;
    if (left.length > 0)
      logger.warn({ left }, 'the process stopped during paid calls; another process or the next start finishes them');
  }
}

/** Waits until the time is over or a second signal comes, and then a moment longer for calls that are nearly finished. */
async function outOfPatience(
  what: Stoppable,
  patience_ms: number,
  hurried: AbortSignal,
  ended: AbortSignal,
): Promise<StopOutcome> {
  await sleep(patience_ms, null, { signal: AbortSignal.any([hurried, ended]) }).catch(() => {});
  if (!ended.aborted) {
    what.hurry();
    await sleep(limits.stop_hurried_ms, null, { signal: ended }).catch(() => {});
  }
  return { kind: 'left' };
}
