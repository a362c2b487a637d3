import { hostname } from 'node:os';
import { logsInfo } from '../config/logs-info.js';

/* Lines about a start, before there is a logger. JavaScript, as launch.js is. */

/** The last line of a start that a signal has ended. */
export const STOPPED = 'stopped before it was ready; no data is lost, and it can be started again';

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
