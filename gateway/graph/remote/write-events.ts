import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { ExecutionResult } from 'graphql';
import { Refusal } from '../../../schema/errors.ts';
import { END, EVENT_STREAM, eventFrame, HEARTBEAT, HEARTBEAT_MS, REFUSED } from './event-stream.ts';

export interface WrittenEvents {
  readonly headers: Readonly<Record<string, string>>;
  readonly results: AsyncIterable<ExecutionResult>;
  /** In its public form. */
  published(result: ExecutionResult): ExecutionResult;
}

/**
 * Writes events as they come and as fast as they are read: a slow reader is waited for, and the source with it.
 * When the reader leaves the source is given back, also while it waits.
 */
export async function writeEvents(
  response: ServerResponse,
  { headers, results, published }: WrittenEvents,
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
      await write(eventFrame(JSON.stringify(published(next.value))));
    response.end(eventFrame(END));
  } catch (fault) {
    if (fault instanceof Refusal && !gone.signal.aborted)
      return void response.end(eventFrame(`${REFUSED}${JSON.stringify(published({ errors: [fault] }))}`));
    // Cut off without an end, so that it is known to be none.
    response.destroy();
    if (!gone.signal.aborted) throw fault;
  } finally {
    clearInterval(heartbeat);
    await source.return?.();
  }
}
