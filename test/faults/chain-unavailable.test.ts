import { beforeAll, describe, expect, it } from 'vitest';
import { audit } from '../harness/faults/audit.ts';
import { nameOf, send } from '../harness/faults/buyer.ts';
import { claimOf } from '../harness/faults/claims.ts';
import { openLyingChainService } from '../harness/faults/lying-chain-service.ts';
import type { LyingChain } from '../harness/lying-chain.ts';

let doubtful: Awaited<ReturnType<typeof openLyingChainService>>;
beforeAll(async () => {
  doubtful = await openLyingChainService();
});

type Begin = (node: LyingChain) => void;

const receipts = ['eth_getTransactionReceipt'];
const afterwards: readonly [what: string, begin: Begin][] = [
  ['is out of reach', node => node.behave({ kind: 'cut' })],
  ['hangs when it is asked for receipts', node => node.behave({ kind: 'hang', methods: receipts })],
  ['answers with 64 MB', node => node.behave({ kind: 'huge', methods: receipts })],
  ['answers with a page', node => node.behave({ kind: 'no_json', methods: receipts })],
];

describe('a node that, after the broadcast,', () => {
  it.each(afterwards)('%s: 503 settlement_pending until it answers, then 200; one transfer', async (what, begin) => {
    await doubtful.expectPatience(what, () => begin(doubtful.node));
  });
});

const reads = ['eth_call'];
const before: readonly [what: string, begin: Begin][] = [
  ['is out of reach', node => node.behave({ kind: 'cut' })],
  ['hangs', node => node.behave({ kind: 'hang' })],
  ['answers with 64 MB', node => node.behave({ kind: 'huge', methods: reads })],
  ['answers with a page', node => node.behave({ kind: 'no_json', methods: reads })],
  ['answers calls with nothing', node => node.lie({ eth_call: () => '0x' })],
  ['answers calls with noise', node => node.lie({ eth_call: () => `0x${'ab'.repeat(500)}` })],
  ['answers calls with what is no hex', node => node.lie({ eth_call: () => ({ data: 7 }) })],
  ['leaves calls unanswered', node => node.lie({ eth_call: () => undefined })],
];

describe('a node that, before anything is claimed,', () => {
  it.each(before)('%s: 503 chain_unavailable, not charged, and the payment pays later', async (what, begin) => {
    const { buyer, gateway, ground, node, transfers } = doubtful;
    const moved = await transfers();
    const order = await buyer.chat(`${what}, before`);
    begin(node);
    const answer = await send(gateway, order);
    expect(nameOf(answer)).toBe('503 chain_unavailable');
    expect(answer.body.charged).toBe(false);
    expect(await claimOf(ground, order)).toBeNull();
    node.tellTruth();
    expect((await send(gateway, order)).status).toBe(200);
    expect(await audit(ground)).toBe(moved + 1);
  });
});

describe('a node that goes away while the hub works', () => {
  it('503 chain_unavailable: released, not charged, and the payment pays later', async () => {
    const { buyer, gateway, ground, node, transfers } = doubtful;
    const moved = await transfers();
    const order = await buyer.chat('away in between');
    // The service may use market data that are one block old to commit the payment, so the delay is longer than a block.
    ground.hub.behave(() => {
      node.behave({ kind: 'cut' });
      return { kind: 'answer', delay_ms: 2_500 };
    });
    const answer = await send(gateway, order);
    expect(nameOf(answer)).toBe('503 chain_unavailable');
    expect(answer.body.charged).toBe(false);
    expect(await claimOf(ground, order)).toMatchObject({ state: 'released', reason: 'chain_unavailable' });
    ground.hub.behave({ kind: 'answer' });
    node.tellTruth();
    expect((await send(gateway, order)).status).toBe(200);
    expect(await audit(ground)).toBe(moved + 1);
  });
});

it('a node of another chain: refused at start, by name', async () => {
  const { ground, node } = doubtful;
  node.lie({ eth_chainId: () => '0x1' });
  const refusing = await ground.startProcess({ environment: { BASE_RPC_URL: node.url }, await_health: false });
  expect(await refusing.exited).toBe(1);
  expect(refusing.logs.join('\n')).toContain('BASE_RPC_URL is a node of chain 1, and base is chain 8453');
  node.tellTruth();
});
