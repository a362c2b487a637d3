import { limits } from '../../schema/limits.ts';
import type { FoundServices } from './find-services.ts';
import { STOPPED, writeStartLine } from './start-line.js';
import { publishSignalHandling, publishStartEnd } from './start-steps.js';

/* A start that a signal can end. What the start has opened is then closed in order. */

/**
 * Finds the services that a process depends on, and then serves. `serve` calls `handOver` when the service handles signals itself.
 * `handOver` returns true if a signal came during the start; the service is about to receive it.
 */
export async function startService(
  find: () => Promise<FoundServices>,
  serve: (services: FoundServices, handOver: () => boolean) => Promise<void>,
): Promise<void> {
  const signals = handleSignals();
  const services = await find().catch(error => {
    // A terminal sends its signal to child processes too, such as initdb, and they fail then.
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
      // npm forwards a signal that the terminal has sent to both processes.
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
