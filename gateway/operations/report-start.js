import { STOPPED, writeStartLine } from './start-line.js';
import { followStart } from './start-steps.js';

/* What launch.js does while the program starts: it reports the steps, and answers signals. JavaScript, as launch.js is. */

const SAY_EVERY_MS = 2_000;

/**
 * Writes a line at once about the start of `service`, and every two seconds what the start waits for. Until the program handles signals
 * itself, a signal ends the process at once, because nothing has been opened yet.
 * @param {string} service
 */
export function reportStart(service, say = writeStartLine, every_ms = SAY_EVERY_MS) {
  // Before the line, whose reader may answer it with a signal.
  stopOnSignal(say);
  say(`starting ${service}; press Ctrl-C to stop`);
  reportWaits(say, every_ms);
}

/** @param {(line: string) => void} say */
function stopOnSignal(say) {
  const stop = () => {
    say(STOPPED);
    process.exit();
  };
  process.on('SIGINT', stop).on('SIGTERM', stop);
  followStart(({ kind }) => {
    if (kind === 'handles_signals' || kind === 'over') process.off('SIGINT', stop).off('SIGTERM', stop);
  });
}

/**
 * @param {(line: string) => void} say
 * @param {number} every_ms
 */
function reportWaits(say, every_ms) {
  /** @type {Set<string>} */
  const waits = new Set();
  const timer = setInterval(() => {
    const what = waits.size === 0 ? 'starting' : [...waits].join(', ');
    say(`still ${what} (${Math.round(performance.now() / 1_000)} s)`);
  }, every_ms);
  timer.unref();
  followStart(event => {
    if (event.kind === 'began') waits.add(event.what);
    else if (event.kind === 'ended') waits.delete(event.what);
    else if (event.kind === 'over') clearInterval(timer);
  });
}
