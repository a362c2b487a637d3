import { beforeAll, describe, expect, it } from 'vitest';
import { type AnchoredHead, anchoredTopic, LOG_ANCHOR } from '../../../../gateway/log/anchor/anchor-chain.ts';
import { anchorKey } from '../../../../gateway/log/anchor/open-anchors.ts';
import { words } from '../../../../gateway/rails/base/abi.ts';
import { topic } from '../../../../gateway/rails/base/contracts.ts';
import type { Json } from '../../../../schema/canonical-json.ts';
import { anchoringProcess, fundedSeed, grow } from '../../../harness/anchor/ground.ts';
import { freshChain, type TestChain } from '../../../harness/chain.ts';
import { openLogWatch, ROLL_LOG_BACK } from '../../../harness/faults/log-watch.ts';
import { type Lie, startLyingChain } from '../../../harness/lying-chain.ts';
import { freshStore } from '../../../harness/store.ts';

let chain: TestChain;
beforeAll(async () => {
  chain = await freshChain();
});

/** A log of four leaves whose head is anchored on Base. Two processes watch it; one of them anchors, behind a node that may lie. */
async function running() {
  const [store, seed, node] = [await freshStore(), await fundedSeed(chain), await startLyingChain(chain.rpc_url)];
  await grow(store, 1, 2);
  await grow(store, 3, 4);
  await anchoringProcess(chain.rpc_url, store, seed).settle();
  const [own, other] = [await openLogWatch(store), await openLogWatch(store)];
  let failed = 0;
  const process = anchoringProcess(node.url, store, seed, {
    pace_ms: 0,
    onContradiction: head => own.watch.meet(head),
    onEnd: outcome => {
      if (outcome === 'failed') failed++;
    },
  });
  await process.anchoring.prove();
  process.start();
  return {
    store,
    seed,
    node,
    own,
    other,
    process,
    anchored: process.heads.newest as AnchoredHead,
    async moreRounds(rounds: number) {
      const until = failed + rounds;
      await expect.poll(() => failed).toBeGreaterThanOrEqual(until);
    },
    halted: async () => (await store.query<{ halted: Json }>({ text: 'select halted from log_head' }))[0]?.halted,
  };
}

/** One anchor event more than the chain has: of a size that no head has, in an existing transaction. */
function oneMore(seed: string, { tx_hash, block_number }: AnchoredHead): Lie {
  return (truth, params) => {
    const [{ fromBlock, toBlock }] = params as [{ fromBlock: string; toBlock: string }];
    if (block_number < Number(fromBlock) || block_number > Number(toBlock)) return truth;
    const log = {
      address: LOG_ANCHOR,
      topics: [anchoredTopic, topic(anchorKey(seed).address), topic('0x1')],
      data: `0x${words(10 ** 9)}${'cd'.repeat(32)}`,
      logIndex: '0x7',
      transactionHash: tx_hash,
      blockNumber: `0x${block_number.toString(16)}`,
    };
    return [...(truth as Json[]), log];
  };
}

function once(lie: Lie): Lie {
  let told = false;
  return (truth, params) => {
    if (told) return truth;
    told = true;
    return lie(truth, params);
  };
}

describe('a head that one answer of a node shows, and that the log does not extend', () => {
  it('is not on Base: this process closes until its block is final, proves anew and goes on; no other is halted', async () => {
    const { anchored, halted, moreRounds, node, other, own, process, seed, store } = await running();
    node.lie({ eth_getLogs: once(oneMore(seed, anchored)) });
    await expect.poll(() => process.anchoring.sound).toBe(false);
    await moreRounds(3);
    expect(process.anchoring.sound).toBe(false);
    await chain.mine(5);
    await expect.poll(() => process.anchoring.sound).toBe(true);
    expect(process.lines.filter(line => line.includes('is not on Base'))).toHaveLength(1);
    expect(process.heads.newest).toMatchObject(anchored);
    await grow(store, 5);
    await expect.poll(() => process.heads.newest?.tree_size).toBe(5);
    await Promise.all([own.watch.look(), other.watch.look()]);
    expect([await halted(), own.watch.sound, other.watch.sound]).toEqual([null, true, true]);
  });

  it('is said again and again, and its receipt does not show it: this process alone stays closed', async () => {
    const { anchored, halted, moreRounds, node, other, process, seed } = await running();
    node.lie({ eth_getLogs: oneMore(seed, anchored) });
    await expect.poll(() => process.anchoring.sound).toBe(false);
    await chain.mine(5);
    await moreRounds(3);
    await other.watch.look();
    expect([await halted(), process.anchoring.sound, other.watch.sound]).toEqual([null, false, true]);
    node.tellTruth();
    await expect.poll(() => process.anchoring.sound).toBe(true);
  });

  it('stands there: the log is halted for all once its block is final, and not while its receipt is denied', async () => {
    const { anchored, halted, moreRounds, node, other, own, process, store } = await running();
    await store.query({ text: ROLL_LOG_BACK });
    await expect.poll(() => process.anchoring.sound).toBe(false);
    await moreRounds(3);
    expect(await halted()).toBeNull();
    node.lie({ eth_getTransactionReceipt: () => null });
    await chain.mine(5);
    await moreRounds(3);
    expect([await halted(), process.anchoring.sound]).toEqual([null, false]);
    node.tellTruth();
    const halt = { known: { tree_size: 4, root_hash: anchored.root_hash }, found: { tree_size: 2 } };
    for (const { watch } of [own, other]) await expect.poll(() => watch.halt).toMatchObject(halt);
    expect(await halted()).toMatchObject(halt);
    expect(process.anchoring.sound).toBe(false);
  });

  it('stands there, and the log extends it again: nobody else is halted, and this process waits for its restart', async () => {
    const { anchored, halted, moreRounds, other, process, store } = await running();
    await store.query({ text: `update log_head set tree_size = 3` });
    await expect.poll(() => process.anchoring.sound).toBe(false);
    await store.query({ text: `update log_head set tree_size = 4` });
    await chain.mine(5);
    await moreRounds(3);
    await other.watch.look();
    expect([await halted(), process.anchoring.sound, other.watch.sound]).toEqual([null, false, true]);
    expect(process.heads.newest).toMatchObject(anchored);
  });
});
