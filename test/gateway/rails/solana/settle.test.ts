import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { beforeEach, describe, expect, it } from 'vitest';
import { recheckFinalized } from '../../../../gateway/rails/finality.ts';
import type { SolanaChain } from '../../../../gateway/rails/solana/chain.ts';
import { decideSent } from '../../../../gateway/rails/solana/decide.ts';
import { openSvmChain } from '../../../../gateway/rails/solana/open-svm-chain.ts';
import { finalSolana } from '../../../../gateway/rails/solana/rebroadcast.ts';
import { openSolanaGround, type SolanaGround } from '../../../harness/solana/ground.ts';

let ground: SolanaGround;
beforeEach(async () => {
  ground = await openSolanaGround();
});

/** The chain as seen by a node that gives another value to one of its calls. */
async function answering(method: string, value: unknown, look: (chain: SolanaChain) => Promise<void>): Promise<void> {
  const node = createServer(async (request, response) => {
    const asked = (await json(request)) as { id: number; method: string };
    const headers = { 'content-type': 'application/json' };
    const answer = await fetch(ground.svm.rpc_url, { method: 'POST', headers, body: JSON.stringify(asked) });
    const told = (await answer.json()) as { result: { value: unknown } };
    if (asked.method === method) told.result = { ...told.result, value };
    response.writeHead(200, headers).end(JSON.stringify(told));
  });
  await new Promise<void>(resolve => node.listen(0, '127.0.0.1', resolve));
  const chain = openSvmChain({ rpc_url: `http://127.0.0.1:${(node.address() as AddressInfo).port}` });
  try {
    await look(chain);
  } finally {
    await chain.close();
    node.close();
  }
}

const arrived = async () => (await ground.svm.transfers(ground.pay_to)).length;

describe('a payment that is settled', () => {
  it('moves once, by a transaction that was journalled with its signature before anybody saw it', async () => {
    const item = await ground.payment();
    let before: unknown = null;
    const after_settling = async () => {
      before = [await ground.settlements(), await arrived()];
    };
    const faults = { reach: async (name: string) => (name === 'after_settling' ? after_settling() : undefined) };
    const settled = await ground.settler({ faults }).settle(item);
    const { signature, raw } = ground.own.sign(item.signature);
    const nonce = item.authorization.last_valid_block_height;
    expect(before).toEqual([[{ network: 'solana', state: 'sent', tx_hash: signature, raw, nonce }], 0]);
    expect(settled).toMatchObject({ kind: 'transferred', tx_hash: signature, transfer_index: 2, by: 'us' });
    expect(await ground.svm.transfers(ground.pay_to)).toMatchObject([
      { signature, from: item.authorization.payer, amount_atomic: 2000n },
    ]);
    expect(await ground.decide(item)).toEqual(settled);
  });

  it('is told so, where a node has its status before another has the transaction', async () => {
    const item = await ground.payment();
    const asked: string[] = [];
    const transaction: SolanaChain['transaction'] = async signature => {
      asked.push(signature);
      return asked.length < 3 ? { kind: 'ok', value: null } : ground.chain.transaction(signature);
    };
    const settled = await ground.settler({ chain: { ...ground.chain, transaction } }).settle(item);
    expect(settled).toMatchObject({ kind: 'transferred' });
  });

  it('is one of twenty that go at the same time', async () => {
    const items = await Promise.all(Array.from({ length: 20 }, () => ground.payment()));
    const settler = ground.settler();
    const settled = await Promise.all(items.map(item => settler.settle(item)));
    expect(new Set(settled.map(({ kind }) => kind))).toEqual(new Set(['transferred']));
    expect(await arrived()).toBe(20);
  });
});

describe('a payment that is not sent', () => {
  it('is expired where its blockhash ran out before it was signed', async () => {
    const item = await ground.payment();
    await ground.svm.expire();
    expect(await ground.settler().settle(item)).toEqual({ kind: 'not_transferred', reason: 'expired' });
    expect(await ground.settlements()).toEqual([]);
  });

  it('is claim_lost where another process holds its claim', async () => {
    const item = await ground.payment();
    ground.lost.add(item.claim_key);
    expect(await ground.settler().settle(item)).toEqual({ kind: 'not_sent', reason: 'claim_lost' });
    expect([await ground.settlements(), await arrived()]).toEqual([[], 0]);
  });

  it('is chain_unavailable where the chain is out of reach, and journal_failed where the database is', async () => {
    const item = await ground.payment();
    const away = { kind: 'unreachable', cause: null } as const;
    const chain = { ...ground.chain, blockhash: async () => away };
    expect(await ground.settler({ chain }).settle(item)).toEqual({ kind: 'not_sent', reason: 'chain_unavailable' });
    const commitSettling = async () => Promise.reject(new Error('the disk is full'));
    const failed = await ground.settler({ commitSettling }).settle(item);
    expect(failed).toEqual({ kind: 'not_sent', reason: 'journal_failed' });
    expect(await arrived()).toBe(0);
  });
});

describe('a stalled chain', () => {
  it('makes the outcome unknown, and the chain decides when it moves again', async () => {
    const item = await ground.payment();
    await ground.svm.stall();
    expect(await ground.settler({ wait_ms: 200 }).settle(item)).toEqual({ kind: 'unknown', reason: 'not_mined' });
    expect(await ground.decide(item)).toEqual({ kind: 'unknown', reason: 'not_mined' });
    await ground.svm.stall(false);
    expect(await ground.decide(item)).toMatchObject({ kind: 'transferred' });
  });

  it('that loses the transaction is sent the same bytes again', async () => {
    const item = await ground.payment();
    await ground.svm.stall();
    await ground.settler({ wait_ms: 100 }).settle(item);
    await ground.svm.drop();
    await ground.svm.stall(false);
    const settler = ground.settler();
    await settler.rebroadcast();
    await settler.rebroadcast();
    expect(await ground.decide(item)).toMatchObject({ kind: 'transferred' });
    expect(await ground.settlements()).toMatchObject([{ state: 'mined' }]);
    expect(await arrived()).toBe(1);
  });

  it('that passes its last block height has let it expire, but not before that is final', async () => {
    const item = await ground.payment();
    await ground.svm.stall();
    await ground.settler({ wait_ms: 100 }).settle(item);
    await ground.svm.drop();
    await ground.svm.expire();
    expect(await ground.decide(item)).toEqual({ kind: 'unknown', reason: 'not_mined' });
    expect(await ground.rail.isOver(item)).toBe(false);
    await ground.svm.finalize();
    expect(await ground.decide(item)).toEqual({ kind: 'not_transferred', reason: 'expired' });
    expect(await ground.rail.isOver(item)).toBe(true);
    await ground.settler().rebroadcast();
    expect(await ground.settlements()).toMatchObject([{ state: 'abandoned' }]);
  });
});

describe('what the chain says', () => {
  it('is reverted where the transaction stands there and failed', async () => {
    const poor = await ground.svm.newWallet(1_999n);
    const item = await ground.payment({ payer: poor.signer });
    expect(await ground.settler().settle(item)).toEqual({ kind: 'not_transferred', reason: 'reverted' });
    expect(await ground.decide(item)).toEqual({ kind: 'not_transferred', reason: 'reverted' });
    expect(await arrived()).toBe(0);
  });

  it('is not believed where it contradicts itself, or comes from a node that lags behind', async () => {
    const item = await ground.payment();
    await ground.settler().settle(item);
    const other = await ground.payment();
    const { chain, rail } = ground;
    const transaction = chain.transaction;
    const [mine] = await ground.settlements();
    await ground.settler().settle(other);
    chain.transaction = async signature =>
      transaction(signature === mine?.tx_hash ? ground.own.sign(other.signature).signature : signature);
    expect(await ground.decide(item)).toEqual({ kind: 'unknown', reason: 'chain_inconsistent' });
    chain.transaction = transaction;
    const never = await ground.payment();
    const finalized = chain.finalized;
    chain.finalized = async () => ({ kind: 'ok', value: { slot: 1_000_000, block_height: 1_000_000 } });
    expect(await ground.decide(never)).toEqual({ kind: 'unknown', reason: 'chain_inconsistent' });
    expect(await rail.isOver(never)).toBe(true);
    chain.finalized = finalized;
  });

  it('is not believed of a node that has executed it and not seen it confirmed, after all others have it as final', async () => {
    const item = await ground.payment();
    const settled = await ground.settler().settle(item);
    if (settled.kind !== 'transferred') throw new Error(settled.kind);
    await ground.svm.expire();
    await ground.svm.finalize();
    const executed = { slot: settled.block_number, err: null, confirmations: 0, confirmationStatus: 'processed' };
    await answering('getSignatureStatuses', [executed], async chain => {
      const { signature } = ground.own.sign(item.signature);
      const decision = await decideSent(chain, item.authorization, [signature], null);
      expect(decision).toEqual({ kind: 'unknown', reason: 'chain_inconsistent' });
    });
    expect(await ground.decide(item)).toMatchObject({ kind: 'transferred' });
  });

  it('is not believed of blocks that the node keeps no longer', async () => {
    const item = await ground.payment();
    await ground.svm.stall();
    await ground.settler({ wait_ms: 100 }).settle(item);
    await ground.svm.drop();
    await ground.svm.expire();
    await ground.svm.finalize();
    const { oldest } = ground.chain;
    ground.chain.oldest = async () => ({ kind: 'ok', value: 1_000_000 });
    expect(await ground.decide(item)).toEqual({ kind: 'unknown', reason: 'chain_inconsistent' });
    ground.chain.oldest = async () => ({ kind: 'unreachable', cause: null });
    expect(await ground.decide(item)).toEqual({ kind: 'unknown', reason: 'chain_unavailable' });
    ground.chain.oldest = oldest;
    expect(await ground.decide(item)).toEqual({ kind: 'not_transferred', reason: 'expired' });
  });

  it('is chain_unavailable where it cannot be asked', async () => {
    const item = await ground.payment();
    ground.chain.statuses = async () => ({ kind: 'unreachable', cause: null });
    expect(await ground.decide(item)).toEqual({ kind: 'unknown', reason: 'chain_unavailable' });
  });
});

describe('a settlement that was seen in a block', () => {
  const recheck = (noted: string[]) =>
    recheckFinalized(finalSolana(ground.database, ground.chain), async (_tx, { kind }) => {
      noted.push(kind);
    });

  it('is final once the finalized block has passed it', async () => {
    await ground.settler().settle(await ground.payment());
    const noted: string[] = [];
    expect(await recheck(noted)).toEqual([]);
    await ground.svm.finalize();
    expect(await recheck(noted)).toMatchObject([{ kind: 'final' }]);
    expect(noted).toEqual([]);
    expect(await ground.settlements()).toMatchObject([{ state: 'final' }]);
  });

  it('stays as it is where the node keeps its block no longer', async () => {
    const settled = await ground.settler().settle(await ground.payment());
    if (settled.kind !== 'transferred') throw new Error(settled.kind);
    await ground.svm.forget(settled.tx_hash);
    await ground.svm.finalize();
    ground.chain.oldest = async () => ({ kind: 'ok', value: settled.block_number + 1 });
    expect(await recheck([])).toEqual([]);
    expect(await ground.settlements()).toMatchObject([{ state: 'mined' }]);
  });

  it('that the chain has lost is corrected once, and sent again while its blockhash is known', async () => {
    const item = await ground.payment();
    const settled = await ground.settler().settle(item);
    if (settled.kind !== 'transferred') throw new Error(settled.kind);
    await ground.svm.forget(settled.tx_hash);
    await ground.svm.finalize();
    const noted: string[] = [];
    expect(await recheck(noted)).toMatchObject([{ kind: 'vanished' }]);
    expect([noted, await ground.settlements()]).toMatchObject([['vanished'], [{ state: 'sent' }]]);
    await ground.settler().rebroadcast();
    expect(await ground.decide(item)).toMatchObject({ kind: 'transferred', tx_hash: settled.tx_hash });
    expect(await arrived()).toBe(1);
  });
});
