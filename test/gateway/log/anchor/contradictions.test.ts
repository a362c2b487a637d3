import { beforeAll, describe, expect, it } from 'vitest';
import { anchorCall, gasLimits } from '../../../../gateway/log/anchor/anchor-chain.ts';
import { AnchorContradicted } from '../../../../gateway/log/anchor/anchored-heads.ts';
import { anchorKey } from '../../../../gateway/log/anchor/open-anchors.ts';
import { signTransaction } from '../../../../gateway/rails/base/settle/transaction.ts';
import { declareBreak } from '../../../../subgraphs/receipt/log/break.ts';
import { type TreeHeadFacts } from '../../../../subgraphs/receipt/log/tree-head.ts';
import { anchoringProcess, fundedSeed, GWEI, grow, journalOf, minedOf } from '../../../harness/anchor/ground.ts';
import { freshChain, type TestChain } from '../../../harness/chain.ts';
import { openLogWatch, ROLL_LOG_BACK as turned_back } from '../../../harness/faults/log-watch.ts';
import { issuer } from '../../../harness/ledger/fixture.ts';
import { freshStore } from '../../../harness/store.ts';

let chain: TestChain;
beforeAll(async () => {
  chain = await freshChain();
});

/** Sends a head as anybody with the key could. */
async function say(seed: string, head: TreeHeadFacts): Promise<void> {
  const key = anchorKey(seed);
  const fees = { max_fee_wei: 10n * GWEI, priority_fee_wei: GWEI };
  const nonce = await minedOf(chain, seed);
  const { raw } = signTransaction(key, { ...anchorCall(head), nonce, gas: gasLimits.anchor, fees });
  await chain.call('eth_sendRawTransaction', raw);
  await expect.poll(() => minedOf(chain, seed)).toBe(nonce + 1);
}

const ROOT = /root [0-9a-f]{64}/;

describe('a log that does not extend what stands on Base', () => {
  const two = (store: Awaited<ReturnType<typeof freshStore>>) => grow(store, 1, 2);

  async function fourLeaves() {
    const [store, seed] = [await freshStore(), await fundedSeed(chain)];
    await two(store);
    await grow(store, 3, 4);
    await anchoringProcess(chain.rpc_url, store, seed).settle();
    return { store, seed };
  }

  it.each([
    ['shrunken', turned_back],
    ['rewritten', `update log_node set hash = sha256(hash) where level = 2 and index = 0`],
  ])('%s, its journal gone with it: refused, naming both heads and the transaction', async (kind, harm) => {
    const { store, seed } = await fourLeaves();
    const { heads } = anchoringProcess(chain.rpc_url, store, seed);
    await heads.look(Infinity);
    await store.query({ text: `${harm}; truncate log_anchor` });
    const later = anchoringProcess(chain.rpc_url, store, seed);
    const refusal = await later.anchoring.prove().catch((error: Error) => error);
    expect(refusal).toBeInstanceOf(AnchorContradicted);
    const { message } = refusal as Error;
    expect(message).toContain(
      `the log is ${kind}: the head anchored on Base by ${anchorKey(seed).address} has size 4, root `,
    );
    expect(message).toContain(`transaction ${heads.newest?.tx_hash}`);
    expect(message).toMatch(new RegExp(`the database has size \\d, ${ROOT.source}`));
    expect(message).toContain('npm run accept-log-break');
    expect(later.anchoring.sound).toBe(false);
    await expect(later.round()).rejects.toThrow(AnchorContradicted);
    expect(await journalOf(store)).toEqual([]);
  });

  it('while a process runs: it says so, anchors nothing any more, and is not sound', async () => {
    const { store, seed } = await fourLeaves();
    const process = anchoringProcess(chain.rpc_url, store, seed, { pace_ms: 0 });
    process.start();
    await expect.poll(() => process.heads.newest?.tree_size).toBe(4);
    const mined = await minedOf(chain, seed);
    await store.query({ text: turned_back });
    await grow(store, 13, 14, 15);
    await expect.poll(() => process.anchoring.sound).toBe(false);
    expect(process.lines.join()).toMatch(/the log is (shrunken|rewritten): the head anchored on Base/);
    expect(await minedOf(chain, seed)).toBe(mined);
  });

  it('while processes run: whoever meets it halts the log for all of them, and the halt names both heads', async () => {
    const { store, seed } = await fourLeaves();
    const [meeting, other] = [await openLogWatch(store), await openLogWatch(store)];
    const anchored = async (head: TreeHeadFacts) => meeting.watch.meet(head);
    const process = anchoringProcess(chain.rpc_url, store, seed, { onContradiction: anchored });
    await expect.poll(async () => process.round().then(({ kind }) => kind)).toBe('still');
    const root_hash = process.heads.newest?.root_hash;
    // Neither of the two watches knows of more than was left: only the chain does.
    await store.query({ text: turned_back });
    const [late, idle] = [await openLogWatch(store), await openLogWatch(store)];
    expect([late.watch.halt, idle.watch.halt]).toEqual([null, null]);
    const beside = anchoringProcess(chain.rpc_url, store, seed, { onContradiction: head => late.watch.meet(head) });
    beside.start();
    await expect.poll(() => beside.anchoring.sound).toBe(false);
    // While the block may still be replaced, only this process is closed.
    await chain.mine(5);
    const halt = { known: { tree_size: 4, root_hash }, found: { tree_size: 2 } };
    for (const { watch } of [late, idle, meeting, other]) await expect.poll(() => watch.halt).toMatchObject(halt);
    expect(await store.query({ text: 'select halted from log_head' })).toMatchObject([{ halted: halt }]);
  });

  it('by an anchor that somebody else sent with our key: refused, for what it says was never the log', async () => {
    const { store, seed } = await fourLeaves();
    await say(seed, { log_id: 1, tree_size: 10 ** 9, root_hash: 'cd'.repeat(32) });
    const { anchoring } = anchoringProcess(chain.rpc_url, store, seed);
    await expect(anchoring.prove()).rejects.toThrow(/shrunken: .*size 1000000000, .*replace ANCHOR_KEY as well/);
  });

  it('also where a smaller one was sent after it', async () => {
    const { store, seed } = await fourLeaves();
    const [first] = await store.query<{ root_hash: string }>({
      text: 'select root_hash from tree_head where tree_size = 2',
    });
    await say(seed, { log_id: 1, tree_size: 2, root_hash: first?.root_hash ?? '' });
    await anchoringProcess(chain.rpc_url, store, seed).anchoring.prove();
    await store.query({ text: turned_back });
    const { anchoring } = anchoringProcess(chain.rpc_url, store, seed);
    await expect(anchoring.prove()).rejects.toThrow('shrunken');
  });

  it('by an anchor of another sender, or of another log: it counts for nothing', async () => {
    const { store, seed } = await fourLeaves();
    await say(await fundedSeed(chain), { log_id: 1, tree_size: 10 ** 9, root_hash: 'cd'.repeat(32) });
    await say(seed, { log_id: 2, tree_size: 10 ** 9, root_hash: 'cd'.repeat(32) });
    const { anchoring, heads } = anchoringProcess(chain.rpc_url, store, seed);
    await anchoring.prove();
    expect(heads.newest).toMatchObject({ tree_size: 4 });
  });

  it('and was declared broken, by a break that names the anchor and is signed: accepted, and anchored anew', async () => {
    const { store, seed } = await fourLeaves();
    const { heads } = anchoringProcess(chain.rpc_url, store, seed);
    await heads.look(Infinity);
    await store.query({ text: turned_back });
    const facts = { log_id: 1, tree_size: 2, root_hash: '00'.repeat(32) };
    const declared = {
      saved: null,
      found: facts,
      damage: [],
      reason: 'a dump',
      declared_at: '2026-01-02T03:04:05.678Z',
    };
    const proving = () => anchoringProcess(chain.rpc_url, store, seed).anchoring.prove();

    await declareBreak(store, issuer, declared, async () => {});
    await expect(proving()).rejects.toThrow('shrunken');
    await declareBreak(store, issuer, { ...declared, anchored: heads.declared() }, async () => {});
    await store.query({ text: `update log_break set jws = (select jws from log_break order by break_id limit 1)` });
    await expect(proving()).rejects.toThrow('shrunken');
    await declareBreak(store, issuer, { ...declared, anchored: heads.declared() }, async () => {});
    await proving();

    await grow(store, 23);
    const process = anchoringProcess(chain.rpc_url, store, seed);
    expect(await process.settle()).toMatchObject({ kind: 'anchored' });
    expect(process.heads.newest).toMatchObject({ tree_size: 3 });
  });
});
