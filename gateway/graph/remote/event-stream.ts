import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import type { ExecutionResult } from 'graphql';
import { Refusal } from '../../../schema/errors.ts';
import { limits } from '../../../schema/limits.ts';
import { eventsIn } from '../../../subgraphs/receipt/inference/hubs/events.ts';
import { readResult } from './answer.ts';

/**
 * Events on the wire. The first event has the headers, each further event is a result, and the last one marks the end. A stream without
 * that mark was interrupted.
 */
export const EVENT_STREAM = 'text/event-stream';
export const END = '[END]';
/** Precedes the errors with which the source has ended, in place of `END`. The stream ended on purpose then and was not interrupted. */
const REFUSED = '[REFUSED]';

/** Frame of one event. JSON has no bare line breaks, so its data is one line. */
export function eventFrame(data: string): string {
  return `data: ${data}\n\n`;
}

/** Longest text of one event. The reader's limit applies to the text with its frame. */
export const EVENT_CHARS_MAX = limits.subgraph_event_chars_max - eventFrame('').length;

/** A comment (SSE) that shows that the sender is alive. */
export const HEARTBEAT = ':\n\n';
export const HEARTBEAT_MS = 5_000;
/** Time without any data after which the reader gives up the stream. */
export const SILENCE_MS_MAX = 20_000;

interface WrittenEvents {
  readonly headers: Readonly<Record<string, string>>;
  readonly results: AsyncIterable<ExecutionResult>;
  /** JSON of the public form of a result, at most `EVENT_CHARS_MAX` long. */
  eventText(result: ExecutionResult): string;
}

/**
 * Writes events at the reader's pace, which slows down the source as well. When the reader disconnects, the source is closed, even while it
 * waits.
 */
export async function writeEvents(
  response: ServerResponse,
  { headers, results, eventText }: WrittenEvents,
): Promise<void> {
  const source = results[Symbol.asyncIterator]();
  const gone = new AbortController();
  response.once('close', () => {
    gone.abort();
    source.return?.().catch(() => {});
  });
  if (response.destroyed) return void (await source.return?.());

  response.writeHead(200, { 'content-type': EVENT_STREAM, 'cache-control': 'no-store' });
  const heartbeat = setInterval(() => response.writableNeedDrain || response.write(HEARTBEAT), HEARTBEAT_MS);
  const write = async (text: string) => {
    if (!response.write(text)) await once(response, 'drain', { signal: gone.signal });
  };
  try {
    await write(eventFrame(JSON.stringify(headers)));
    for (let next = await source.next(); !next.done; next = await source.next())
      await write(eventFrame(eventText(next.value)));
    response.end(eventFrame(END));
  } catch (fault) {
    if (fault instanceof Refusal && !gone.signal.aborted)
      return void response.end(eventFrame(`${REFUSED}${eventText({ errors: [fault] })}`));
    // The stream ends without the end mark, so that the reader notices the interruption.
    response.destroy();
    if (!gone.signal.aborted) throw fault;
  } finally {
    clearInterval(heartbeat);
    await source.return?.();
  }
}

/** A stream whose first event, the headers, was read already. */
interface OpenedEvents {
  readonly headers: Readonly<Record<string, string>>;
  readonly results: AsyncIterableIterator<ExecutionResult>;
}

/**
 * Reads a subgraph's events on demand. An interrupted stream ends with a last result, made by `broken`. return() disconnects, even while it
 * waits. @throws if the body has no headers
 */
export async function openEvents(body: Readable, broken: (cause: unknown) => ExecutionResult): Promise<OpenedEvents> {
  const events = eventsIn(body, limits.subgraph_event_chars_max);
  const first = await events.next();
  if (first.done) throw new Error('a stream of events without a first one');
  const headers = JSON.parse(first.value) as OpenedEvents['headers'];

  let left = false;
  const results = resultsIn(events, cause => (left ? null : broken(cause)));
  const leave = () => {
    left = true;
    body.destroy();
  };
  return {
    headers,
    results: {
      next: () => results.next(),
      // A generator's own return() would wait for the pending event.
      return() {
        leave();
        return results.return(undefined);
      },
      throw(error) {
        leave();
        return results.throw(error);
      },
      [Symbol.asyncIterator]() {
        return this;
      },
    },
  };
}

async function* resultsIn(
  events: AsyncGenerator<string>,
  broken: (cause: unknown) => ExecutionResult | null,
): AsyncGenerator<ExecutionResult, undefined> {
  let cause: unknown = new Error('the stream ended in its midst');
  let refusal: unknown;
  try {
    for await (const data of events) {
      if (data === END) return;
      if (data.startsWith(REFUSED)) {
        refusal = readResult(data.slice(REFUSED.length))?.errors?.[0];
        break;
      }
      const result = readResult(data);
      if (result === null) throw new Error('an event that is no result');
      yield result;
    }
  } catch (fault) {
    cause = fault;
  }
  if (refusal) throw refusal;
  const last = broken(cause);
  if (last) yield last;
}
