import { describe, expect, it } from 'vitest';
import type { BaseChain, ChainBlock } from '../../../../gateway/rails/base/chain.ts';
import { ChainHead } from '../../../../gateway/rails/base/chain-head.ts';
import { openBase } from '../../../../gateway/rails/base/open-base.ts';
import { systemClock } from '../../../../subgraphs/clock.ts';
import { freshChain } from '../../../harness/chain.ts';
import { atEnd } from '../../../harness/release.ts';

const block: ChainBlock = { number: 7, hash: '0xab', timestamp_seconds: 1, base_fee_wei: 1n, state_root: '0xcd' };
const seen = { status: 'AVAILABLE', block_number: 7, block_hash: '0xab', state_root: '0xcd' };

/** A chain whose answer the test sets, and a clock that moves only when the test says so. */
function watched() {
  let answer: Awaited<ReturnType<BaseChain['block']>> = { kind: 'ok', value: block };
  let now_ms = 1_000_000;
  const head = new ChainHead({ block: async () => answer }, { now_ms: () => now_ms });
  return {
    head,
    answers(next: typeof answer): void {
      answer = next;
    },
    passes(ms: number): void {
      now_ms += ms;
    },
  };
}

describe('the head that a refusal is signed at', () => {
  it('is unavailable before the first look', () => {
    expect(watched().head.anchor()).toEqual({ status: 'UNAVAILABLE' });
  });

  it('is the last one seen, for a minute', async () => {
    const { head, passes, answers } = watched();
    await head.poll();
    expect(head.anchor()).toEqual(seen);
    passes(60_000);
    expect(head.anchor()).toEqual(seen);
    passes(1);
    expect(head.anchor()).toEqual({ status: 'UNAVAILABLE' });
    const { state_root: _, ...untold } = block;
    answers({ kind: 'ok', value: { ...untold, number: 8 } });
    await head.poll();
    expect(head.anchor()).toEqual({ status: 'AVAILABLE', block_number: 8, block_hash: '0xab' });
  });

  it('stays what it was while the chain is out of reach', async () => {
    const { head, answers, passes } = watched();
    await head.poll();
    answers({ kind: 'unreachable', cause: new Error('away') });
    passes(30_000);
    await expect(head.poll()).rejects.toThrow('cannot be reached');
    expect(head.anchor()).toEqual(seen);
    passes(30_001);
    expect(head.anchor()).toEqual({ status: 'UNAVAILABLE' });
  });

  it('is a real block, with its state root', async () => {
    const { rpc_url, call } = await freshChain();
    const base = openBase({ rpc_url });
    atEnd(() => base.close());
    const head = new ChainHead(base, systemClock);
    await head.poll();
    const latest = await call<{ number: string; hash: string; stateRoot: string }>(
      'eth_getBlockByNumber',
      'latest',
      false,
    );
    expect(head.anchor()).toEqual({
      status: 'AVAILABLE',
      block_number: Number(latest.number),
      block_hash: latest.hash,
      state_root: latest.stateRoot,
    });
  });
});
