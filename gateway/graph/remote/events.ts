import type { Readable } from 'node:stream';
import type { ExecutionResult } from 'graphql';
import { limits } from '../../../schema/limits.ts';
import { eventsIn } from '../../../subgraphs/receipt/inference/hubs/events.ts';
import { readResult } from './answer.ts';
import { END, REFUSED } from './event-stream.ts';

/** A stream whose first event, the headers, has been read. */
export interface OpenedEvents {
  readonly headers: Readonly<Record<string, string>>;
  readonly results: AsyncIterableIterator<ExecutionResult>;
}

/**
 * Reads a subgraph's events as fast as they are asked for, and no faster. A stream that breaks off says so by a last
 * result, which `broken` makes. Hangs up on return(), also while it waits.
 * @throws where the body brings no headers
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
      // A generator's own return() would wait behind the event that is being waited for.
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
