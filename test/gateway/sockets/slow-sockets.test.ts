import { afterAll, beforeAll, expect, it } from 'vitest';
import { openFollower } from '../../harness/graph/follower.ts';
import { openTicker } from '../../harness/graph/ticker.ts';

let server: Awaited<ReturnType<typeof openTicker>>;
beforeAll(async () => {
  server = await openTicker();
});
afterAll(() => server.close());

const follow = (session: string) =>
  openFollower({ url: server.url, session, field: 'ticks', more: 'text', agentId: 7, after: 0 });

const TICK = 'x'.repeat(64 * 1024);
/** More than the buffers of both TCP ends and our own hold. */
const TICKS = 400;

it('a socket that is read too slowly is dropped, told why and from where to resume; nobody else waits', async () => {
  const [reader, slow, gone] = [await follow('of 7'), await follow('of 7'), await follow('of 7 again')];
  for (const { positions } of [reader, slow, gone]) {
    if (server.ticker.ticks.length === 0) server.ticker.append();
    await expect.poll(() => positions).toEqual([1]);
  }
  slow.socket.pause();
  gone.socket.pause();
  while (server.ticker.ticks.length < TICKS) {
    server.ticker.append(TICK);
    await expect.poll(() => reader.positions.length, { interval: 1 }).toBe(server.ticker.ticks.length);
  }
  expect(slow.positions).toEqual([1]);

  slow.socket.resume();
  const { code, reason } = await slow.closed;
  const last = slow.positions.length;
  expect({ code, reason }).toEqual({ code: 1013, reason: `too slow: resume with after: ${last}` });
  expect(last).toBeLessThan(TICKS);
  expect(slow.positions).toEqual(Array.from({ length: last }, (_, at) => at + 1));

  // The service does no more work for a dropped reader: a source is released with its only reader.
  await expect.poll(() => server.ticker.released).toBe(1);
});
