import { expect, it } from 'vitest';
import { BatchedRead } from '../../subgraphs/batched-read.ts';

/** Reads that end only when a test ends them. */
function slow() {
  const asked: { keys: readonly string[]; end(): void; fail(): void }[] = [];
  const gathering = new BatchedRead(keys => {
    const { promise, resolve, reject } = Promise.withResolvers<ReadonlyMap<string, string>>();
    const held = new Map(keys.filter(key => key !== 'nobody').map(key => [key, `held by ${key}`]));
    asked.push({ keys, end: () => resolve(held), fail: () => reject(new Error('away')) });
    return promise;
  });
  const reads = async (count: number) => expect.poll(() => asked.length).toBe(count);
  return { gathering, asked, reads };
}

it('who comes while a read is under way shares the next, and hears of his own key', async () => {
  const { gathering, asked, reads } = slow();
  const first = gathering.ask('a');
  await reads(1);
  const later = ['a', 'b', 'nobody'].map(key => gathering.ask(key));
  asked[0]?.end();
  expect(await first).toBe('held by a');
  await reads(2);
  expect(asked[1]?.keys).toEqual(['a', 'b', 'nobody']);
  asked[1]?.end();
  expect(await Promise.all(later)).toEqual(['held by a', 'held by b', null]);
});

it('nothing is remembered: neither what was found nor a fault', async () => {
  const { gathering, asked, reads } = slow();
  for (const turn of [0, 2]) {
    const failing = gathering.ask('a');
    await reads(turn + 1);
    asked[turn]?.fail();
    await expect(failing).rejects.toThrow('away');
    const found = gathering.ask('a');
    await reads(turn + 2);
    asked[turn + 1]?.end();
    expect(await found).toBe('held by a');
  }
});

it('a read that does not come back keeps nobody waiting who came after it', async () => {
  const { gathering, asked, reads } = slow();
  const hanging = gathering.ask('a');
  await reads(1);
  const next = gathering.ask('b');
  await reads(2);
  asked[1]?.end();
  expect(await next).toBe('held by b');
  asked[0]?.end();
  expect(await hanging).toBe('held by a');
});
