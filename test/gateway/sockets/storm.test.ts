import { beforeAll, expect, it } from 'vitest';
import { ask, type Service, sharedService } from '../../harness/doors/open-service.ts';
import { type Follower, openFollower } from '../../harness/graph/follower.ts';
import { openTicker } from '../../harness/graph/ticker.ts';

const SOCKETS = 1_000;

let service: Service;
beforeAll(async () => {
  service = await sharedService();
});

const upTo = (last: number, first = 1) => Array.from({ length: last - first + 1 }, (_, at) => first + at);

/** All at once, as after a restart of the proxy in front of them. One that is refused in such a crowd tries once more. */
const together = (open: (index: number) => Promise<Follower>, sockets = SOCKETS) =>
  Promise.all(Array.from({ length: sockets }, (_, index) => open(index).catch(() => open(index))));

const all = (followers: readonly Follower[], last: number) =>
  expect.poll(() => followers.filter(({ positions }) => positions.at(-1) === last).length);

it('a thousand sockets that are cut at once come back and get each row once and in order, what came meanwhile too', async () => {
  const agent = await service.newAgent();
  const url = `${service.url.replace(/^http/, 'ws')}/graphql`;
  const open = (after: number) =>
    openFollower({ url, session: agent.session, field: 'bookRows', agentId: agent.agent_id, after });
  const followers = await together(() => open(0));
  await service.buy(agent.account, ask('Before'));
  await all(followers, 2).toBe(SOCKETS);
  for (const { socket } of followers) socket.terminate();

  const paid = Array.from({ length: 10 }, (_, call) => service.buy(agent.account, ask(`Meanwhile ${call}`)));
  const back = await together(index => open(followers[index]?.positions.at(-1) ?? 0));
  await Promise.all(paid);
  await service.buy(agent.account, ask('After'));
  await all(back, 13).toBe(SOCKETS);
  for (const { positions } of back) expect(positions).toEqual(upTo(13, 3));
  for (const { positions } of followers) expect(positions).toEqual([1, 2]);
  for (const { socket } of back) socket.terminate();
});

it('costs the ledger and the sessions few looks, however many come back', async () => {
  const { ticker, url, close } = await openTicker();
  for (let tick = 0; tick < 30; tick++) ticker.append();
  const followers = await together(() =>
    openFollower({ url, session: 'of 7', field: 'ticks', more: 'text', agentId: 7, after: 20 }),
  );
  await all(followers, 30).toBe(SOCKETS);
  for (const { positions } of followers) expect(positions).toEqual(upTo(30, 21));
  expect([...ticker.executed].sort((one, other) => one - other)).toEqual(upTo(30, 21));
  expect(ticker.reads).toBeLessThan(10);
  // All share one session: two look-ups for each socket would be 2,000.
  expect(ticker.lookUps).toBeLessThan(SOCKETS);

  const [executed, opened] = [ticker.executed.length, ticker.opened];
  ticker.append();
  await all(followers, 31).toBe(SOCKETS);
  expect([ticker.executed.length - executed, ticker.opened - opened]).toEqual([1, 0]);
  for (const { socket } of followers) socket.terminate();
  await expect.poll(() => ticker.opened - ticker.released).toBe(0);
  await close();
});

it('looks up so many sessions at once and no more, and lets each read at its own pace what is far behind', async () => {
  const { ticker, url, close } = await openTicker();
  for (let tick = 0; tick < 100; tick++) ticker.append('text');
  const open = (index: number) =>
    openFollower({ url, session: `of 7, ${index % 100}`, field: 'ticks', agentId: 7, after: 0 });
  const followers = await together(open, 300);
  await all(followers, 100).toBe(300);
  for (const { positions } of followers) expect(positions).toEqual(upTo(100));
  expect(ticker.lookUps_at_once).toBeLessThanOrEqual(16);
  for (const { socket } of followers) socket.terminate();
  await expect.poll(() => ticker.opened - ticker.released).toBe(0);
  await close();
});
