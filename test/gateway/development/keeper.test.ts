import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { rpc } from '../../../gateway/development/chain/rpc.ts';
import type { RunningChain } from '../../../gateway/development/chain/start.ts';
import { startBaseChain } from '../../../gateway/development/chain/start.ts';
import { type Keeper, keeperOf, standInsOf } from '../../../gateway/development/keep.ts';
import { type RunningPostgres, startPostgres } from '../../../gateway/development/postgres/start.ts';
import { endProcess } from '../../../gateway/development/spawn-detached.ts';
import type { Development } from '../../../gateway/development/start.ts';
import { type RunningSvm, startSvm } from '../../../gateway/development/svm/start.ts';
import { solanaWallet } from '../../../gateway/development/svm/wallets.ts';
import { isAlive } from '../../../gateway/operations/process-identity.ts';
import { sha256 } from '../../../schema/digest.ts';
import { valueAt } from '../../harness/database.ts';
import { runChild } from '../../harness/development/child.ts';
import { ownFolder } from '../../harness/scratch.ts';

const IDLE_MS = 1_500;
/** More than an account must hold to stay rent-exempt. */
const LAMPORTS = '7000000000';
const owner_on_base = '0x7777777777777777777777777777777777777777';

const start = <T>(kind: string, folder: string, idle_ms = IDLE_MS) =>
  runChild<T>('test/harness/development/stand-in.child.ts', kind, folder, String(idle_ms));

async function living(folder: string): Promise<string[]> {
  const stand_ins = await standInsOf(folder);
  return stand_ins.filter(({ mark }) => isAlive(mark)).map(({ name }) => name);
}

async function keeper(folder: string): Promise<Keeper> {
  const found = await keeperOf(folder);
  if (!found) throw new Error('nobody keeps it');
  return found;
}

describe('stand-ins that no process uses any more', () => {
  it('end by themselves, in order, and so does their keeper; the next start finds their state', async () => {
    const folder = await ownFolder();
    const child = await start<Pick<Development, 'config'>>('development', folder);
    const { database_url, base_rpc_url, solana } = child.first_line.config;
    const owner = solanaWallet(sha256('an owner of the tests')).address;
    await valueAt(database_url, 'create table kept as select 7 as n');
    await rpc(base_rpc_url, 'anvil_setBalance', owner_on_base, '0x7');
    await rpc(solana?.rpc_url ?? '', 'dev_fund', owner, { usdc_atomic: '0', lamports: LAMPORTS });
    const { mark } = await keeper(folder);
    expect((await living(folder)).sort()).toEqual(['chain', 'postgres', 'svm']);

    await child.end('SIGKILL');
    await expect.poll(() => living(folder)).toEqual([]);
    await expect.poll(() => isAlive(mark)).toBe(false);
    expect(await keeperOf(folder)).toBeNull();
    expect(await readFile(join(folder, 'keeper.log'), 'utf8')).toMatch(
      /postgres was ended: no process has used it for 1.5 s/,
    );
    expect(await readFile(join(folder, 'postgres.log'), 'utf8')).toContain('database system is shut down');

    const postgres = await startPostgres(folder);
    const chain = await startBaseChain(folder);
    const svm = (await startSvm(folder)) as RunningSvm;
    expect([postgres.adopted, chain.adopted, svm.adopted]).toEqual([false, false, false]);
    expect([postgres.url, chain.rpc_url, svm.rpc_url]).toEqual([database_url, base_rpc_url, solana?.rpc_url]);
    expect(await valueAt(postgres.url, 'select n from kept')).toBe(7);
    expect(await rpc(chain.rpc_url, 'eth_getBalance', owner_on_base, 'latest')).toBe('0x7');
    expect(await rpc(svm.rpc_url, 'getBalance', owner)).toMatchObject({ value: Number(LAMPORTS) });
  });

  it('stay while any process of that DATA_DIR lives, though others were killed', async () => {
    const folder = await ownFolder();
    const [one, two] = [
      await start<RunningChain>('chain', folder, 100),
      await start<RunningChain>('chain', folder, 100),
    ];
    const { mark } = await keeper(folder);
    await one.end('SIGKILL');
    // Long enough for several checks by a keeper that ends what was unused for 100 ms.
    await new Promise(resolve => setTimeout(resolve, 1_000));
    expect([await living(folder), isAlive(mark)]).toEqual([['chain'], true]);
    expect(await rpc(two.first_line.rpc_url, 'eth_chainId')).toBe('0x2105');
    await two.end('SIGKILL');
    await expect.poll(() => living(folder)).toEqual([]);
  });

  it('are adopted as they are by a start in time, which gives them another while', async () => {
    const folder = await ownFolder();
    const first = await start<RunningChain>('chain', folder, 600_000);
    await first.end('SIGKILL');
    const second = await start<RunningChain>('chain', folder);
    expect(second.first_line).toMatchObject({ adopted: true, rpc_url: first.first_line.rpc_url });
    await second.end('SIGKILL');
    await expect.poll(() => living(folder)).toEqual([]);
  });

  it('have a keeper again after theirs was killed, from the next start on', async () => {
    const folder = await ownFolder();
    const first = await start<RunningPostgres>('postgres', folder);
    const before = await keeper(folder);
    await endProcess(before.mark, ['SIGKILL']);
    const second = await start<RunningPostgres>('postgres', folder);
    const { mark } = await keeper(folder);
    expect([second.first_line.adopted, isAlive(mark), mark.pid === before.mark.pid]).toEqual([true, true, false]);
    await first.end('SIGKILL');
    await second.end('SIGKILL');
    await expect.poll(() => living(folder)).toEqual([]);
  });

  it('end although their DATA_DIR was removed under them', async () => {
    const folder = await ownFolder();
    const child = await start<RunningChain>('chain', folder);
    const [chain] = await standInsOf(folder);
    await expect.poll(async () => readFile(join(folder, 'keeper.log'), 'utf8')).toContain('keeps chain');
    await rm(folder, { recursive: true });
    await child.end('SIGKILL');
    await expect.poll(() => chain && isAlive(chain.mark)).toBe(false);
  });
});
