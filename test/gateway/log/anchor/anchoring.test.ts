import { beforeAll, describe, expect, it } from 'vitest';
import { anchorKey } from '../../../../gateway/log/anchor/open-anchors.ts';
import { openStore } from '../../../../gateway/parts.ts';
import type { JsonObject } from '../../../../schema/canonical-json.ts';
import { anchoringProcess, fundedSeed, GWEI, grow, journalOf, minedOf } from '../../../harness/anchor/ground.ts';
import { freshChain, type TestChain } from '../../../harness/chain.ts';
import { startLyingChain } from '../../../harness/lying-chain.ts';
import { atEnd } from '../../../harness/release.ts';
import { freshStore } from '../../../harness/store.ts';

let chain: TestChain;
beforeAll(async () => {
  chain = await freshChain();
});

/** A log of three leaves whose head is anchored. */
async function anchored() {
  const [store, seed] = [await freshStore(), await fundedSeed(chain)];
  await grow(store, 1, 2, 3);
  const process = anchoringProcess(chain.rpc_url, store, seed);
  expect(await process.settle()).toMatchObject({ kind: 'anchored' });
  return { store, seed, process };
}

describe('anchoring', () => {
  it('the first deploys the contract, and each says size and root under the key of its sender', async () => {
    const own = await freshChain();
    const [store, seed] = [await freshStore(), await fundedSeed(own)];
    await grow(store, 1, 2, 3);
    const process = anchoringProcess(own.rpc_url, store, seed);
    expect(await process.settle()).toMatchObject({ kind: 'anchored' });
    const [head] = await store.query<{ root_hash: string }>({
      text: 'select root_hash from tree_head where tree_size = 3',
    });
    expect(process.heads.newest).toMatchObject({ log_id: 1, tree_size: 3, root_hash: head?.root_hash });
    expect(process.anchoring.shown).toMatchObject({
      last_anchored_root: head?.root_hash,
      last_anchored_tx: process.heads.newest?.tx_hash,
      anchor: {
        tree_size: 3,
        at: expect.stringMatching(/^\d{4}-.*Z$/),
        trouble: null,
        sender: anchorKey(seed).address,
      },
    });
    expect(await journalOf(store)).toMatchObject([
      { purpose: 'deployment', state: 'mined' },
      { purpose: 'anchor', state: 'mined', tree_size: 3, tx_hash: process.heads.newest?.tx_hash },
    ]);
  });

  it('sends nothing while the tree has not grown, on demand neither; and the next once it has', async () => {
    const { store, seed, process } = await anchored();
    const before = await minedOf(chain, seed);
    expect(await process.settle()).toEqual({ kind: 'still' });
    expect(await minedOf(chain, seed)).toBe(before);
    await grow(store, 4);
    expect(await process.settle(false)).toEqual({ kind: 'still' });
    expect(await process.settle()).toMatchObject({ kind: 'anchored' });
    expect(process.heads.newest).toMatchObject({ tree_size: 4 });
  });

  it('by itself, on its schedule', async () => {
    const { store, seed } = await anchored();
    const { heads, start } = anchoringProcess(chain.rpc_url, store, seed, { pace_ms: 50 });
    start();
    for (const number of [4, 5]) {
      await grow(store, number);
      await expect.poll(() => heads.newest?.tree_size).toBe(number);
    }
  });

  it('of several processes one sends it, and all know it', async () => {
    const { store, seed } = await anchored();
    const before = await minedOf(chain, seed);
    const stores = await Promise.all([1, 2, 3].map(() => openStore(store.url)));
    for (const each of stores) atEnd(() => each.close());
    const processes = stores.map(each => anchoringProcess(chain.rpc_url, each, seed));
    await grow(store, 4);
    await Promise.all(processes.map(it => it.settle()));
    await Promise.all(processes.map(it => it.round(false)));
    expect(await minedOf(chain, seed)).toBe(before + 1);
    expect(processes.map(({ heads }) => heads.newest?.tree_size)).toEqual([4, 4, 4]);
  });

  it('a key without gas: nothing is journalled, and it is said why; then it is anchored', async () => {
    const [store, seed] = [await freshStore(), await fundedSeed(chain, 0n)];
    await grow(store, 1);
    const process = anchoringProcess(chain.rpc_url, store, seed);
    expect(await process.settle()).toEqual({ kind: 'trouble', trouble: 'unfunded' });
    expect(await journalOf(store)).toEqual([]);
    process.start();
    await expect.poll(() => process.anchoring.trouble).toBe('unfunded');
    await chain.call('anvil_setBalance', anchorKey(seed).address, '0xde0b6b3a7640000');
    await expect.poll(() => process.heads.newest?.tree_size).toBe(1);
    await expect.poll(() => process.anchoring.trouble).toBeNull();
    expect(process.lines.filter(line => line.includes('unfunded'))).toHaveLength(1);
  });

  it('ANCHOR_FEE_DAY_MAX bounds what a day costs, whichever process sends', async () => {
    const { store, seed } = await anchored();
    const [spent] = await store.query<{ wei: bigint }>({ text: 'select sum(fee_wei) as wei from log_anchor' });
    await grow(store, 4);
    const bounded = anchoringProcess(chain.rpc_url, store, seed, { fee_day_max_wei: (spent?.wei ?? 0n) + 1_000n });
    expect(await bounded.settle()).toEqual({ kind: 'trouble', trouble: 'fee_too_high' });
    await store.query({ text: `update log_anchor set at = at - interval '1 day'` });
    const next_day = anchoringProcess(chain.rpc_url, store, seed, { fee_day_max_wei: 10n ** 16n });
    expect(await next_day.settle()).toMatchObject({ kind: 'anchored' });
  });

  it('one that the market has left behind is replaced under its nonce, and counted once', async () => {
    const own = await freshChain();
    const [store, seed] = [await freshStore(), await fundedSeed(own)];
    await grow(store, 1);
    expect(await anchoringProcess(own.rpc_url, store, seed).settle()).toMatchObject({ kind: 'anchored' });
    // What is not mined at once counts as stuck only from here on: on a busy machine the first ones are not either.
    const process = anchoringProcess(own.rpc_url, store, seed, { stuck_ms: 0 });
    await own.setAutomine(false);
    await grow(store, 2);
    expect(await process.round()).toMatchObject({ kind: 'sent' });
    await own.call('anvil_setNextBlockBaseFeePerGas', `0x${(50n * GWEI).toString(16)}`);
    await own.mine();
    expect(await process.round()).toMatchObject({ kind: 'sent' });
    await own.mine();
    expect(await process.settle()).toMatchObject({ kind: 'anchored' });
    expect((await journalOf(store)).at(-1)).toMatchObject({
      purpose: 'anchor',
      tree_size: 2,
      attempts: 2,
      state: 'mined',
    });
    expect(await minedOf(own, seed)).toBe(3);
  });

  it('one whose block is replaced by another without it: anchored no longer, and anchored again', async () => {
    const own = await freshChain();
    const [store, seed] = [await freshStore(), await fundedSeed(own)];
    const process = anchoringProcess(own.rpc_url, store, seed);
    await grow(store, 1);
    await process.settle();
    const snapshot = await own.call<string>('evm_snapshot');
    await grow(store, 2);
    await process.settle();
    expect(process.heads.newest).toMatchObject({ tree_size: 2 });
    await own.call('evm_revert', snapshot);
    await own.mine(5);
    expect(await process.settle()).toMatchObject({ kind: 'anchored' });
    expect((await journalOf(store)).map(({ state }) => state)).toEqual(['final', 'final', 'lost', 'mined']);
    expect(process.heads.newest).toMatchObject({ tree_size: 2 });
  });
});

describe('a node', () => {
  it('that will not search as much at once, or tells nothing for a while: found all the same', async () => {
    const { store, seed } = await anchored();
    await chain.mine(300);
    const node = await startLyingChain(chain.rpc_url);
    const { heads } = anchoringProcess(node.url, store, seed);
    node.behave({ kind: 'huge', methods: ['eth_getLogs'] });
    await expect(heads.look(Infinity)).rejects.toThrow('the chain cannot be reached');
    expect(heads.newest).toBeNull();
    node.behave({ kind: 'narrow', blocks_max: 40 });
    await heads.look(Infinity);
    expect(heads.newest).toMatchObject({ tree_size: 3 });
  });

  it('that says nothing of a transaction: it is sent again as it is, and no other', async () => {
    const { store, seed } = await anchored();
    await grow(store, 4);
    const node = await startLyingChain(chain.rpc_url);
    const process = anchoringProcess(node.url, store, seed);
    node.lie({ eth_sendRawTransaction: () => undefined, eth_getTransactionReceipt: () => undefined });
    expect(await process.round()).toMatchObject({ kind: 'sent' });
    expect(await process.round()).toMatchObject({ kind: 'trouble', trouble: 'chain_unavailable' });
    node.tellTruth();
    expect(await process.settle()).toMatchObject({ kind: 'anchored' });
    expect(await journalOf(store)).toHaveLength(2);
  });

  it('that shows a receipt without our event: nothing is anchored, and it is said so', async () => {
    const { store, seed } = await anchored();
    await grow(store, 4);
    const node = await startLyingChain(chain.rpc_url);
    const process = anchoringProcess(node.url, store, seed);
    node.lie({ eth_getTransactionReceipt: truth => truth && { ...(truth as JsonObject), logs: [] } });
    expect(await process.settle()).toEqual({ kind: 'trouble', trouble: 'void' });
    expect((await journalOf(store)).at(-1)).toMatchObject({ tree_size: 4, state: 'void' });
  });

  it("that charges for Base's L1 as well: it is counted", async () => {
    const { store, seed } = await anchored();
    await grow(store, 4);
    const node = await startLyingChain(chain.rpc_url);
    const process = anchoringProcess(node.url, store, seed);
    const bare = { gasUsed: '0x2', effectiveGasPrice: '0x3', l1Fee: '0x3e8' };
    node.lie({ eth_getTransactionReceipt: truth => truth && { ...(truth as JsonObject), ...bare } });
    expect(await process.settle()).toMatchObject({ kind: 'anchored' });
    expect((await journalOf(store)).at(-1)).toMatchObject({ fee_wei: 1_006n });
  });
});
