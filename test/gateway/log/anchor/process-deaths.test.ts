import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, it } from 'vitest';
import { anchoringProcess, fundedSeed, grow, journalOf, minedOf } from '../../../harness/anchor/ground.ts';
import { freshChain } from '../../../harness/chain.ts';
import { programOf } from '../../../harness/gateway.ts';
import { ROOT } from '../../../harness/root.ts';
import { freshStore } from '../../../harness/store.ts';

/** Resolves once the process has been killed. */
async function anchorAndDie(...args: readonly string[]): Promise<void> {
  const program = [...programOf('test/harness/anchor/anchor-and-die.child.ts'), ...args];
  const child = spawn(process.execPath, program, { cwd: ROOT, stdio: ['ignore', 'ignore', 'inherit'] });
  expect(await once(child, 'exit')).toEqual([null, 'SIGKILL']);
}

it.each([
  ['between journal and broadcast', 'after_journal', 0],
  ['after the broadcast, before anybody knows what became of it', 'after_broadcast', 1],
] as const)('kill -9 %s: the next process brings it to its end, and sends no other', async (_what, point, sent) => {
  const chain = await freshChain();
  const [store, seed] = [await freshStore(), await fundedSeed(chain)];
  await grow(store, 1, 2);
  const process = anchoringProcess(chain.rpc_url, store, seed);
  await process.settle();
  await grow(store, 3);
  const before = await minedOf(chain, seed);

  await anchorAndDie(chain.rpc_url, store.url, seed, point);
  await expect.poll(() => minedOf(chain, seed)).toBe(before + sent);
  expect((await journalOf(store)).at(-1)).toMatchObject({ purpose: 'anchor', tree_size: 3, state: 'sent' });

  const next = anchoringProcess(chain.rpc_url, store, seed);
  await next.settle(false);
  expect(await minedOf(chain, seed)).toBe(before + 1);
  expect(await journalOf(store)).toHaveLength(3);
  expect(next.heads.newest).toMatchObject({ tree_size: 3 });
});
