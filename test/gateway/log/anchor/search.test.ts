import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type AnchorChain, type AnchoredHead, AnchorSearch } from '../../../../gateway/log/anchor/anchor-chain.ts';

const SENDER = '0x00000000000000000000000000000000000000aa';
const anchoredIn = (block_number: number): AnchoredHead => ({
  log_id: 1,
  tree_size: block_number,
  root_hash: 'ab'.repeat(32),
  tx_hash: `0x${block_number.toString(16).padStart(64, '0')}`,
  block_number,
  log_index: 0,
});

/** A node that searches `span_max` blocks at once, and shows `logs_max` logs. */
function nodeWith(blocks: readonly number[], { span_max = 10_000, logs_max = 1_000 } = {}) {
  const asked: [from: number, to: number][] = [];
  let down = 0;
  const chain: Pick<AnchorChain, 'anchors'> = {
    async anchors(_sender, from, to) {
      asked.push([from, to]);
      if (down > 0 && down-- > 0) return { kind: 'unreachable', cause: new Error('away') };
      const value = blocks.filter(block => block >= from && block <= to).map(anchoredIn);
      if (to - from + 1 > span_max) return { kind: 'refused', code: -32_602, message: 'block range is too wide' };
      if (value.length > logs_max)
        return { kind: 'refused', code: -32_005, message: 'query returned more than 1 results' };
      return { kind: 'ok', value };
    },
  };
  return {
    asked,
    search: (wanted: 'newest' | 'all', to_block: number, from_block = 0) =>
      new AnchorSearch(chain, SENDER, { from_block, to_block, wanted }),
    away(times: number) {
      down = times;
    },
  };
}

const blocksOf = (found: Awaited<ReturnType<AnchorSearch['run']>>) =>
  found.kind === 'ok' ? found.value.map(({ block_number }) => block_number) : found;

it('begins at the head, asks for no page larger than nodes take, and ends with the first that holds any', async () => {
  const node = nodeWith([5, 20_000, 20_001]);
  expect(blocksOf(await node.search('newest', 30_000).run(Infinity))).toEqual([20_000, 20_001]);
  expect(node.asked).toEqual([
    [21_001, 30_000],
    [12_001, 21_000],
  ]);
});

it('asks a node that refuses for half as much, and for more again once it answers', async () => {
  const node = nodeWith([10], { span_max: 3_000 });
  expect(blocksOf(await node.search('newest', 9_999).run(Infinity))).toEqual([10]);
  expect(node.asked.slice(0, 4)).toEqual([
    [1_000, 9_999],
    [5_500, 9_999],
    [7_750, 9_999],
    [3_250, 7_749],
  ]);
});

it('a node that refuses even one block: nothing is known', async () => {
  const found = await nodeWith([], { span_max: 0 }).search('all', 100).run(Infinity);
  expect(found).toMatchObject({ kind: 'unreachable', cause: { message: expect.stringContaining('too wide') } });
});

it('a node that goes away, or a time that is over: it goes on later where it stopped', async () => {
  const node = nodeWith([100]);
  const search = node.search('newest', 20_000);
  node.away(1);
  expect((await search.run(Infinity)).kind).toBe('unreachable');
  expect((await search.run(0)).kind).toBe('unreachable');
  expect(node.asked).toHaveLength(1);
  expect(blocksOf(await search.run(Infinity))).toEqual([100]);
});

it('finds all, each once and in their order, whatever a node refuses and however often it is away', async () => {
  const blocks = fc.uniqueArray(fc.nat(40_000), { maxLength: 30 });
  const bounds = fc.record({
    span_max: fc.integer({ min: 700, max: 10_000 }),
    logs_max: fc.integer({ min: 1, max: 30 }),
  });
  await fc.assert(
    fc.asyncProperty(blocks, bounds, fc.array(fc.nat(2), { maxLength: 5 }), async (unsorted, bounded, outages) => {
      const sorted = unsorted.toSorted((a, b) => a - b);
      const node = nodeWith(sorted, bounded);
      const search = node.search('all', 40_000);
      for (const times of outages) {
        node.away(times);
        if ((await search.run(Infinity)).kind === 'ok') break;
      }
      node.away(0);
      expect(blocksOf(await search.run(Infinity))).toEqual(sorted);
    }),
    { numRuns: 100 },
  );
});
