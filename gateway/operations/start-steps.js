import { channel } from 'node:diagnostics_channel';
import { hostname } from 'node:os';
import { logsInfo } from '../config/logs-info.js';

/*
 * Lines about what a start is doing, from before any module of ours is loaded until the service listens. Steps are published on a channel of
 * Node's, because launch.js and the bundle that it loads have no module in common. JavaScript, as launch.js is.
 */

/**
 * `handles_signals`: from now on the program handles them itself.
 * @typedef {{ readonly kind: 'began' | 'ended', readonly what: string } | { readonly kind: 'handles_signals' | 'over' }} StartEvent
 */

const steps = channel('spend-receipt-gateway:start');
const SAY_EVERY_MS = 2_000;

/**
 * Awaits a part of the start, which is named while it lasts: "starting Postgres".
 * @template T
 * @param {string} what
 * @param {Promise<T>} work
 * @returns {Promise<T>}
 */
export async function duringStart(what, work) {
  publish({ kind: 'began', what });
  try {
    return await work;
  } finally {
    publish({ kind: 'ended', what });
  }
}

/** From now on the program handles signals. */
export function handlesSignals() {
  publish({ kind: 'handles_signals' });
}

/** The service listens. */
export function startIsOver() {
  publish({ kind: 'over' });
}

/** @param {StartEvent} event */
function publish(event) {
  steps.publish(event);
}

/** The last line of a start that a signal has ended. */
export const STOPPED = 'stopped before it was ready; no data is lost, and it can be started again';

/**
 * Writes a line at once about the start of `service`, and every two seconds what the start waits for. Until the program handles signals
 * itself, a signal ends the process at once, because nothing has been opened yet.
 * @param {string} service
 */
export function reportStart(service, say = writeStartLine, every_ms = SAY_EVERY_MS) {
  /** @type {Set<string>} */
  const waits = new Set();
  const timer = setInterval(() => {
    const what = waits.size === 0 ? 'starting' : [...waits].join(', ');
    say(`still ${what} (${Math.round(performance.now() / 1_000)} s)`);
  }, every_ms);
  timer.unref();
  const stop = () => {
    say(STOPPED);
    process.exit();
  };
  const release = () => {
    process.off('SIGINT', stop).off('SIGTERM', stop);
  };
  // Before the line, whose reader may answer it with a signal.
  process.on('SIGINT', stop).on('SIGTERM', stop);
  say(`starting ${service}; press Ctrl-C to stop`);
  /** @param {unknown} message */
  const follow = message => {
    const event = /** @type {StartEvent} */ (message);
    if (event.kind === 'began') waits.add(event.what);
    else if (event.kind === 'ended') waits.delete(event.what);
    else release();
    if (event.kind !== 'over') return;
    clearInterval(timer);
    steps.unsubscribe(follow);
  };
  steps.subscribe(follow);
}

/**
 * Writes a line in the form of the service's log: text on a terminal, elsewhere JSON, if LOG_LEVEL includes `info`.
 * @param {string} text
 */
export function writeStartLine(text) {
  const { isTTY } = process.stdout;
  if (isTTY) process.stdout.write(`${text}\n`);
  else if (logsInfo())
    process.stdout.write(
      `${JSON.stringify({ level: 30, time: Date.now(), pid: process.pid, hostname: hostname(), msg: text })}\n`,
    );
}
