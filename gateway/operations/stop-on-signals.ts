import type { Logger } from 'pino';
import { limits } from '../../schema/limits.ts';
import type { Config } from '../config/read-config.ts';
import { lookInTime } from './look-in-time.ts';
import { type Stoppable, stop } from './stop.ts';

export interface SignalOptions {
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
