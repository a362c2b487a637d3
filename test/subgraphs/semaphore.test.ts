import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { Semaphore } from '../../subgraphs/semaphore.ts';

const bounds = { at_once_max: 1, wait_ms_max: 5_000, waiting_per_asker_max: 50 };

/** Work that lasts until `end` is called. */
function held() {
  const { promise, resolve } = Promise.withResolvers<object>();
  return { work: () => promise, end: () => resolve({}) };
}

it('whoever asks for much waits for himself, and another who asks for one thing waits for one thing of his', async () => {
  const turns = new Semaphore(bounds);
  const first = held();
  const order: string[] = [];
  const done = (name: string) => async () => ({ at: order.push(name) });
  const begun = turns.take('greedy', first.work);
  const rest = Array.from({ length: 20 }, () => turns.take('greedy', done('greedy')));
  const other = turns.take('modest', done('modest'));
  first.end();
  await Promise.all([begun, ...rest, other]);
  expect(order.indexOf('modest')).toBeLessThanOrEqual(1);
  expect(order).toHaveLength(21);
});

it('more of one asker than may wait are sent away at once, and of another none', async () => {
  const turns = new Semaphore({ ...bounds, waiting_per_asker_max: 2 });
  const first = held();
  const begun = turns.take('a', first.work);
  const waiting = [1, 2].map(() => turns.take('a', async () => ({})));
  expect(await turns.take('a', async () => ({}))).toBeNull();
  const other = turns.take('b', async () => ({}));
  first.end();
  expect(await Promise.all([begun, ...waiting, other])).not.toContain(null);
});

it('who has waited too long goes without, and no turn is lost with him', async () => {
  const turns = new Semaphore({ ...bounds, wait_ms_max: 5 });
  const first = held();
  const begun = turns.take('a', first.work);
  expect(await turns.take('b', async () => ({}))).toBeNull();
  first.end();
  await begun;
  await sleep(0);
  expect(await turns.take('c', async () => ({ served: true }))).toEqual({ served: true });
});

it('a turn that fails goes on to the next in line', async () => {
  const turns = new Semaphore(bounds);
  const failing = turns.take('a', () => Promise.reject(new Error('no')));
  const next = turns.take('b', async () => ({ served: true }));
  await expect(failing).rejects.toThrow('no');
  expect(await next).toEqual({ served: true });
});

it('so many at a time and no more, one asker’s in the order of arrival, also where some fail', async () => {
  const turns = new Semaphore({ ...bounds, at_once_max: 2 });
  let at_once = 0;
  let most = 0;
  const begun: number[] = [];
  const work = async (number: number) => {
    begun.push(number);
    most = Math.max(most, ++at_once);
    await new Promise(setImmediate);
    at_once--;
    if (number % 3 === 0) throw new Error('failed');
    return { number };
  };
  const numbers = Array.from({ length: 12 }, (_, number) => number);
  const done = await Promise.allSettled(numbers.map(number => turns.take('a', () => work(number))));
  expect(done.filter(({ status }) => status === 'rejected')).toHaveLength(4);
  expect(begun).toEqual(numbers);
  expect(most).toBe(2);
});

it('who runs waits for as long as it takes, however many wait before', async () => {
  const turns = new Semaphore({ at_once_max: 1, wait_ms_max: 1, waiting_per_asker_max: 1 });
  const first = held();
  const begun = turns.run('a', first.work);
  const rest = Array.from({ length: 5 }, (_, number) => turns.run('a', async () => number));
  expect(await turns.take('b', async () => ({}))).toBeNull();
  first.end();
  expect(await Promise.all([begun, ...rest])).toEqual([{}, 0, 1, 2, 3, 4]);
});

it('who leaves while they wait has no turn, and delays nobody', async () => {
  const turns = new Semaphore({ ...bounds, at_once_max: 1 });
  const first = held();
  const begun = turns.take('a', first.work);
  const leaving = new AbortController();
  let ran = 0;
  const run = async () => ({ ran: ++ran });
  const gone = turns.take('b', run, leaving.signal);
  const next = turns.take('c', run);
  leaving.abort();
  expect(await gone).toBeNull();
  expect(await turns.take('b', run, leaving.signal)).toBeNull();
  first.end();
  await begun;
  expect(await next).toEqual({ ran: 1 });
});
