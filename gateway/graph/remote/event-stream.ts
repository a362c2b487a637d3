/**
 * How events go over the wire: the first one brings the headers, each that follows one result, and the last one says that
 * it is the last. A stream that ends without it has broken off.
 */
export const EVENT_STREAM = 'text/event-stream';
export const END = '[END]';
/** Before the errors that its source has ended with, in place of `END`: they were said on purpose, and it has not broken off. */
export const REFUSED = '[REFUSED]';

/** JSON has no line breaks of its own, so that one line holds it. */
export function eventFrame(data: string): string {
  return `data: ${data}\n\n`;
}

/** A comment: says that the other side lives, and nothing else. */
export const HEARTBEAT = ':\n\n';
export const HEARTBEAT_MS = 5_000;
/** Without a word for so long it does not. */
export const SILENCE_MS_MAX = 20_000;
