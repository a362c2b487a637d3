import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Hex } from '../../../../gateway/rails/base/abi.ts';
import { openBase } from '../../../../gateway/rails/base/open-base.ts';
import type { Json, JsonObject } from '../../../../schema/canonical-json.ts';
import { freshChain, type TestChain } from '../../../harness/chain.ts';
import { newestBlock, sendNothingOf, sendUsdc } from '../../../harness/doors/reconciliations.ts';
import { type LyingChain, startLyingChain } from '../../../harness/lying-chain.ts';
import { atEnd } from '../../../harness/release.ts';

let chain: TestChain;
let liar: LyingChain;
let base: ReturnType<typeof openBase>;
let wallet: Hex;
let other: Hex;
let last: number;
const sent: Awaited<ReturnType<typeof sendUsdc>>[] = [];
beforeAll(async () => {
  chain = await freshChain();
  liar = await startLyingChain(chain.rpc_url);
  base = openBase({ rpc_url: liar.url });
  atEnd(() => base.close());
  [wallet, other] = [(await chain.newWallet()).address, (await chain.newWallet()).address];
  for (const amount of [1n, 2n, 3n]) sent.push(await sendUsdc(chain, wallet, other, amount));
  await sendUsdc(chain, other, wallet, 9n);
  await sendNothingOf(chain, wallet, other, other);
  last = await newestBlock(chain);
});
beforeEach(() => liar.tellTruth());

const read = (from = 0, to = last) => base.transfersFrom(wallet.toLowerCase() as Hex, from, to);
const lie = (of: (logs: readonly JsonObject[]) => Json) =>
  liar.lie({ eth_getLogs: truth => of(truth as JsonObject[]) });
const all = () => ({
  kind: 'ok',
  value: sent.map((transfer, at) => expect.objectContaining({ ...transfer, amount_atomic: BigInt(at + 1) })),
});

describe('transfersFrom', () => {
  it('has what a wallet sent in these blocks, both ends included, nothing that it received, and no nothing that others sent of it', async () => {
    expect(await read()).toEqual(all());
    const [, second] = sent;
    const at = second?.block_number ?? 0;
    expect(await read(at, at)).toMatchObject({ kind: 'ok', value: [{ amount_atomic: 2n }] });
    expect(await read(last, last)).toEqual({ kind: 'ok', value: [] });
    expect(await read(at + 1, at + 1)).toMatchObject({ value: [{ amount_atomic: 3n }] });
  });

  it('leaves out logs of another token, wallet, event and block, and what comes twice, and has them in order', async () => {
    lie(logs => {
      const [log] = logs;
      const { topics } = log as { topics: string[] };
      return [
        { ...log, address: other, logIndex: '0x50' },
        { ...log, topics: [topics[0] ?? '', topics[2] ?? '', topics[1] ?? ''], logIndex: '0x51' },
        { ...log, topics: [`0x${'1'.repeat(64)}`, ...topics.slice(1)], logIndex: '0x52' },
        { ...log, blockNumber: '0xffffff' },
        ...logs.toReversed(),
        ...logs,
      ] as Json;
    });
    expect(await read()).toEqual(all());
  });

  it('believes nothing where a node says two things of one place, or has another shape', async () => {
    lie(logs => [...logs, { ...logs[0], data: `0x${'9'.padStart(64, '0')}` }] as Json);
    expect(await read()).toMatchObject({ kind: 'unreachable' });
    lie(logs => [...logs, { ...logs[0], logIndex: 'one' }] as Json);
    expect(await read()).toMatchObject({ kind: 'unreachable' });
    lie(() => 'no logs');
    expect(await read()).toMatchObject({ kind: 'unreachable' });
  });

  it('tells a node that refuses so many blocks from one that does not answer', async () => {
    liar.behave({ kind: 'narrow', blocks_max: 2 });
    expect(await read()).toMatchObject({ kind: 'refused' });
    expect(await read(last - 1, last)).toMatchObject({ kind: 'ok' });
    liar.behave({ kind: 'cut' });
    expect(await read()).toMatchObject({ kind: 'unreachable' });
    liar.behave({ kind: 'huge', methods: ['eth_getLogs'] });
    expect(await read()).toMatchObject({ kind: 'unreachable' });
  });
});
