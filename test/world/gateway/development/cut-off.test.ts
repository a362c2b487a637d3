import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { keeperOf, standInsOf } from '../../../../gateway/development/keep.ts';
import { isAlive, markOf, type ProcessMark } from '../../../../gateway/operations/process-identity.ts';
import { eventually } from '../../../harness/faults/ground.ts';
import { withParentDeathSignal } from '../../../harness/parent-death-signal.ts';
import { atEnd } from '../../../harness/release.ts';
import { ROOT } from '../../../harness/root.ts';
import { clearScratch, makeScratch } from '../../../harness/scratch.ts';

/* What a run of the suite or of the bench leaves behind if it is killed and cannot clean up. */

const IDLE_MS = 2_000;

/** Folder that contains the scratch folders of the run. */
let folder: string;
beforeEach(async () => {
  const own = await makeScratch();
  folder = own;
  atEnd(async () => {
    for (const data_dir of await dataFolders(own)) await clearScratch(data_dir);
    await clearScratch(own);
  });
});

function begin(...program: readonly string[]): ChildProcess {
  const env = { PATH: process.env.PATH, HOME: folder, TMPDIR: folder, STAND_IN_IDLE_MS: String(IDLE_MS) };
  const child = spawn(...withParentDeathSignal(process.execPath, program), { cwd: ROOT, env, stdio: 'ignore' });
  atEnd(() => child.kill('SIGKILL'));
  return child;
}

async function cutOff(child: ChildProcess): Promise<void> {
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}

/** Folders with stand-ins. Lists again if a folder was renamed during the listing, as initdb's is. */
async function dataFolders(root: string): Promise<string[]> {
  const names = await eventually('listed', () =>
    readdir(root, { recursive: true }).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return null;
      throw error;
    }),
  );
  return names.filter(name => name.endsWith('stand-ins')).map(name => join(root, name, '..'));
}

/** Stand-ins and their keepers, by names that include their folders. */
async function started(): Promise<ReadonlyMap<string, ProcessMark>> {
  const found = new Map<string, ProcessMark>();
  for (const data_dir of await dataFolders(folder)) {
    const keeper = await keeperOf(data_dir);
    if (keeper) found.set(`keeper of ${data_dir}`, keeper.mark);
    for (const { name, mark } of await standInsOf(data_dir)) found.set(`${name} of ${data_dir}`, mark);
  }
  return found;
}

/** Kinds of these processes. A keeper may have several chains, which have numbers. */
const kinds = (all: ReadonlyMap<string, unknown>) =>
  new Set([...all.keys()].map(name => name.split(' ')[0]?.replace(/-\d+$/, '')));

function livingOf(all: ReadonlyMap<string, ProcessMark>): string[] {
  return [...all].filter(([, mark]) => isAlive(mark)).map(([name]) => name);
}

async function allGone(all: ReadonlyMap<string, ProcessMark>): Promise<void> {
  await expect.poll(() => livingOf(all)).toEqual([]);
}

describe('a run that is killed leaves no process behind', () => {
  it('of the suite: worker, service, Postgres, chain and Solana', async () => {
    const vitest = join(ROOT, 'node_modules', 'vitest', 'vitest.mjs');
    const config = 'test/harness/development/cut-off/vitest.config.ts';
    const run = begin(vitest, 'run', '--configLoader', 'native', '--config', config);
    const text = await eventually('started', () => readFile(join(folder, 'started.json'), 'utf8').catch(() => null));
    const { pids } = JSON.parse(text) as { pids: readonly number[] };
    const others = pids.map(pid => [`process ${pid}`, markOf(pid)] as const);
    const all = new Map([...(await started()), ...(others as [string, ProcessMark][])]);
    expect(kinds(all)).toEqual(new Set(['postgres', 'chain', 'svm', 'keeper', 'process']));
    await cutOff(run);
    await allGone(all);
  });

  it('of the bench: Postgres, and the Solana of its gateway', async () => {
    const run = begin('gateway/launch.js', 'test/bench/main.ts', '--quick', '--only', 'unpaid');
    const all = await eventually('started', async () => {
      const found = await started();
      return kinds(found).has('postgres') && kinds(found).has('svm') ? found : null;
    });
    // All of them must run before the run is killed.
    expect(livingOf(all)).toEqual([...all.keys()]);
    await cutOff(run);
    await allGone(all);
  });
});
