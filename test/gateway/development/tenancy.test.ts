import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { RunningChain } from '../../../gateway/development/chain/start.ts';
import { keeperOf, standInsOf } from '../../../gateway/development/keep.ts';
import { withLock } from '../../../gateway/development/lock.ts';
import type { Development } from '../../../gateway/development/start.ts';
import { developmentSolanaBuyers } from '../../../gateway/development/svm/wallets.ts';
import { isAlive, type ProcessMark } from '../../../gateway/operations/process-identity.ts';
import { joinTenancy } from '../../../gateway/operations/tenancy.ts';
import { runChild } from '../../harness/development/child.ts';
import { withParentDeathSignal } from '../../harness/parent-death-signal.ts';
import { atEnd } from '../../harness/release.ts';
import { clearScratch, makeScratch } from '../../harness/scratch.ts';

async function scratch(): Promise<string> {
  const folder = await makeScratch();
  atEnd(() => clearScratch(folder));
  return folder;
}

async function livingProcess(): Promise<{ pid: number; end(): Promise<void> }> {
  const child = spawn(...withParentDeathSignal(process.execPath, ['-e', 'setInterval(() => {}, 1000)']), {
    stdio: 'ignore',
  });
  await once(child, 'spawn');
  const exited = once(child, 'exit');
  const end = async () => {
    child.kill('SIGKILL');
    await exited;
  };
  atEnd(end);
  return { pid: child.pid ?? 0, end };
}

describe('tenancy of a DATA_DIR', () => {
  it('the last living process is told so, whoever else was killed before', async () => {
    const folder = await scratch();
    const neighbour = await livingProcess();
    const ours = await joinTenancy(folder);
    await joinTenancy(folder, neighbour.pid);
    expect(await ours.leave()).toEqual({ kind: 'others', pids: [neighbour.pid] });
    const again = await joinTenancy(folder);
    await neighbour.end();
    expect(await again.leave()).toEqual({ kind: 'last' });
    expect(await readdir(join(folder, 'running'))).toEqual([]);
  });

  it('a pid that was given to another process since does not count', async () => {
    const folder = await scratch();
    const ours = await joinTenancy(folder);
    const neighbour = await livingProcess();
    await writeFile(join(folder, 'running', `${neighbour.pid}.1`), '');
    expect(await ours.leave()).toEqual({ kind: 'last' });
  });
});

describe('the lock', () => {
  it('lets one in at a time, and goes on to the next when the work fails', async () => {
    let inside = 0;
    const seen: number[] = [];
    const work = (fails: boolean) =>
      withLock('a-test', async () => {
        seen.push(++inside);
        await new Promise(setImmediate);
        inside--;
        if (fails) throw new Error('as told');
      });
    const outcomes = await Promise.allSettled([work(false), work(true), work(false), work(true)]);
    expect(seen).toEqual([1, 1, 1, 1]);
    expect(outcomes.filter(outcome => outcome.status === 'rejected')).toHaveLength(2);
  });
});

describe('the development services of one DATA_DIR', () => {
  it('two processes share them; SIGTERM of the first leaves them, of the last one stops them', async () => {
    const folder = await scratch();
    const start = () =>
      runChild<Pick<Development, 'config' | 'wallets'>>(
        'test/harness/development/stand-in.child.ts',
        'development',
        folder,
      );
    const [one, two] = await Promise.all([start(), start()]);
    expect(two.first_line.config.database_url).toBe(one.first_line.config.database_url);
    expect(two.first_line.config.base_rpc_url).toBe(one.first_line.config.base_rpc_url);
    expect(two.first_line.config.issuer_keys).toEqual(one.first_line.config.issuer_keys);
    const markIn = async (...path: string[]) =>
      (JSON.parse(await readFile(join(folder, ...path), 'utf8')) as { mark: ProcessMark }).mark;
    const marks = [await markIn('chain', 'anvil.json'), await markIn('svm', 'svm.json')];
    expect(two.first_line.config.solana).toEqual(one.first_line.config.solana);
    const pid_file = join(folder, 'postgres', 'cluster', 'postmaster.pid');
    await one.end('SIGTERM');
    expect([...marks.map(isAlive), existsSync(pid_file)]).toEqual([true, true, true]);
    const keeper = await keeperOf(folder);
    expect(keeper && isAlive(keeper.mark)).toBe(true);
    await two.end('SIGTERM');
    expect([...marks.map(isAlive), existsSync(pid_file)]).toEqual([false, false, false]);
    // The keeper too: no process is left that it could wait for.
    expect([keeper && isAlive(keeper.mark), await keeperOf(folder)]).toEqual([false, null]);
  });

  it('the last one stops also what it did not use itself, which a killed one has left', async () => {
    const folder = await scratch();
    const killed = await runChild<RunningChain>('test/harness/development/stand-in.child.ts', 'chain', folder);
    await killed.end('SIGKILL');
    const [chain] = await standInsOf(folder);
    expect(chain && isAlive(chain.mark)).toBe(true);
    const last = await runChild('test/harness/development/stand-in.child.ts', 'without', folder);
    expect(chain && isAlive(chain.mark)).toBe(true);
    await last.end('SIGTERM');
    expect([chain && isAlive(chain.mark), await keeperOf(folder)]).toEqual([false, null]);
  });

  it('development.json says how to pay, to its owner alone', async () => {
    const folder = await scratch();
    const child = await runChild<Pick<Development, 'config' | 'wallets'>>(
      'test/harness/development/stand-in.child.ts',
      'development',
      folder,
    );
    const path = join(folder, 'development.json');
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    const { config, wallets } = child.first_line;
    expect(JSON.parse(await readFile(path, 'utf8'))).toEqual({
      url: 'http://127.0.0.1:4000',
      base_rpc_url: config.base_rpc_url,
      solana_rpc_url: config.solana?.rpc_url,
      usdc: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
      pay_to: config.pay_to_base,
      wallets,
      solana_wallets: developmentSolanaBuyers,
      board_ops_secret: config.board_ops_secret,
      board_inbound_secret: config.board_inbound_secret,
      api_keys: config.api_keys,
      demo_keys: config.demo_keys,
    });
    expect(wallets).toHaveLength(5);
    await child.end('SIGTERM');
  });
});
