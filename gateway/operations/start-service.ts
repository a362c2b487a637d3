import { limits } from '../../schema/limits.ts';
import type { FoundServices } from './find-services.ts';
import { STOPPED, writeStartLine } from './start-line.js';
import { publishSignalHandling, publishStartEnd } from './start-steps.js';

/* A start that a signal may end: what it has begun is ended in order. */

/**
 * Finds what a service depends on, and serves. `serve` calls `handOver` once the service handles signals itself; true means that one came
 * during the start, and that the service is about to receive it.
 */
export async function startService(
  find: () => Promise<FoundServices>,
  serve: (services: FoundServices, handOver: () => boolean) => Promise<void>,
): Promise<void> {
  const signals = handleSignals();
  const services = await find().catch(error => {
    // A terminal sends its signal to child processes as well, such as initdb.
    if (signals.came()) leave();
    throw error;
  });
  try {
    if (!signals.came()) return await serve(services, signals.handOver);
  } catch (error) {
    if (!signals.came()) {
      await services.stop();
      throw error;
    }
  }
  await services.stop();
  leave();
}

function leave(): never {
  writeStartLine(STOPPED);
  process.exit();
}

function handleSignals() {
  let first: { readonly signal: NodeJS.Signals; readonly at_ms: number } | null = null;
  const handle = (signal: NodeJS.Signals) => {
    const now_ms = performance.now();
    if (first === null) {
      first = { signal, at_ms: now_ms };
      writeStartLine('stopping when the current step of the start is done; press Ctrl-C again to stop at once');
      // npm forwards a signal that the terminal has sent to both.
    } else if (now_ms - first.at_ms > limits.signal_echo_ms) leave();
  };
  process.on('SIGINT', handle).on('SIGTERM', handle);
  publishSignalHandling();
  return {
    came: () => first !== null,
    handOver() {
      process.off('SIGINT', handle).off('SIGTERM', handle);
      publishStartEnd();
      if (first !== null) process.kill(process.pid, first.signal);
      return first !== null;
    },
  };
}
