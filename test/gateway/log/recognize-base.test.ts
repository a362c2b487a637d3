import { randomUUID } from 'node:crypto';
import pino from 'pino';
import { expect, it } from 'vitest';
import { BaseStart } from '../../../gateway/log/recognize-base.ts';
import { openBase } from '../../../gateway/rails/base/open-base.ts';
import { OtherChain } from '../../../gateway/rails/epoch.ts';
import type { Database } from '../../../subgraphs/database.ts';
import { renewLease } from '../../../subgraphs/receipt/claim/lease.ts';
import { freshChain } from '../../harness/chain.ts';
import { startLyingChain } from '../../harness/lying-chain.ts';
import { atEnd } from '../../harness/release.ts';
import { freshStore } from '../../harness/store.ts';

const OWNER = randomUUID();

interface Begun {
  readonly database?: Database;
  readonly profile?: 'development' | 'production';
}

async function begun({ database, profile = 'production' }: Begun = {}) {
  const node = await startLyingChain((await freshChain()).rpc_url);
  const chain = openBase({ rpc_url: node.url });
  const lines: string[] = [];
  const logger = pino({}, { write: line => void lines.push(line) });
  const log = { sound: true, halt: null, signs: true };
  const parts = { chain, anchoring: null, log, profile, logger, owner: OWNER };
  const start = new BaseStart({ ...parts, database: database ?? (await freshStore()) });
  atEnd(async () => {
    await start.stop();
    await chain.close();
  });
  return { node, start, log, lines };
}

it('a chain that can be asked is believed at once, and the log is as sound as it is', async () => {
  const { start, log } = await begun();
  await start.begin({ keys: [] });
  expect([start.done, start.sound, start.chain_epoch]).toEqual([true, true, 0]);
  expect(await start.chain.chainId()).toEqual({ kind: 'ok', value: 8453 });
  log.sound = false;
  expect(start.sound).toBe(false);
});

it('one that cannot is out of reach for all of us, until it has been asked', async () => {
  const { node, start } = await begun();
  node.behave({ kind: 'cut' });
  await start.begin({ keys: [] });
  node.lie({ eth_getBlockByNumber: () => undefined });
  node.behave({ kind: 'plain' });
  expect([start.done, start.sound]).toEqual([false, false]);
  expect(() => start.chain_epoch).toThrow('the chain has not been recognized yet');
  expect(await start.chain.chainId()).toMatchObject({ kind: 'unreachable' });
  expect(await start.chain.receipts([`0x${'00'.repeat(32)}`])).toMatchObject([{ kind: 'unreachable' }]);
  node.tellTruth();
  await expect.poll(() => start.sound).toBe(true);
  expect(await start.chain.chainId()).toEqual({ kind: 'ok', value: 8453 });
});

it('in development another one that comes late begins a new epoch, as its own lease alone stands', async () => {
  const database = await freshStore();
  await (await begun({ database })).start.begin({ keys: [] });
  const { node, start } = await begun({ database, profile: 'development' });
  node.behave({ kind: 'cut' });
  await start.compare();
  await start.begin({ keys: [] });
  await database.transaction(tx => renewLease(tx, OWNER));
  node.behave({ kind: 'plain' });
  await expect.poll(() => start.done).toBe(true);
  expect(start.chain_epoch).toBe(1);
});

it('another chain is refused at start; found out later, it is never believed', async () => {
  const { node, start, lines } = await begun();
  node.lie({ eth_chainId: () => '0x1' });
  await expect(start.begin({ keys: [] })).rejects.toThrow(OtherChain);
  node.behave({ kind: 'cut' });
  await start.begin({ keys: [] });
  node.behave({ kind: 'plain' });
  await expect.poll(() => lines.join()).toContain('BASE_RPC_URL is a node of chain 1');
  expect([start.done, start.sound, (await start.chain.chainId()).kind]).toEqual([false, false, 'unreachable']);
});
