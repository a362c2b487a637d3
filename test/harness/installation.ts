import { execFile } from 'node:child_process';
import { access, cp, mkdir, readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { locateBuild } from '../../gateway/built.js';
import { ROOT } from './root.ts';
import { ownFolder } from './scratch.ts';

const run = promisify(execFile);
/** Entries of a checkout that a production installation does not have or creates itself. */
const LEFT_OUT: ReadonlySet<string> = new Set(['.git', '.data', 'coverage', 'dist', 'node_modules', 'test']);

/**
 * The project in a new folder as a production image contains it: sources without tests, `dist/` as `npm run build` makes it, and the
 * node_modules that `npm install --omit=dev` would install by the lock.
 */
export async function productionInstallation(): Promise<string> {
  const folder = await ownFolder();
  await run(process.execPath, ['gateway/commands/build.ts'], { cwd: ROOT });
  await copySources(folder);
  const { folder: built } = locateBuild('gateway/main.ts');
  // V8's compiled code is left out, because runs from this checkout add to it.
  const filter = (path: string) => basename(path) !== 'v8';
  await cp(built, join(folder, 'dist', basename(built)), { recursive: true, filter });
  await mkdir(join(folder, 'node_modules'));
  await copyPackages(folder, await productionPackages());
  return folder;
}

/** Copies the sources of this checkout to another folder, without tests and build results. */
export async function copySources(folder: string): Promise<void> {
  for (const name of await readdir(ROOT))
    if (!LEFT_OUT.has(name)) await cp(join(ROOT, name), join(folder, name), { recursive: true });
}

function isThere(path: string): Promise<boolean> {
  return access(join(ROOT, path)).then(
    () => true,
    () => false,
  );
}

interface LockedPackage {
  readonly dev?: boolean;
}

/**
 * Packages that production needs. npm marks in the lock which ones only a devDependency needs. A package within another one is copied with
 * it.
 */
async function productionPackages(): Promise<string[]> {
  const lock = JSON.parse(await readFile(join(ROOT, 'package-lock.json'), 'utf8'));
  const packages = Object.entries(lock.packages as Record<string, LockedPackage>);
  const wanted = packages.filter(([path, { dev }]) => /^node_modules\/(@[^/]+\/)?[^/]+$/.test(path) && !dev);
  const paths = await Promise.all(wanted.map(async ([path]) => ((await isThere(path)) ? [path] : [])));
  return paths.flat();
}

/**
 * Copies packages as hard links if both folders are on one file system, because they take half a gigabyte and nothing writes to them. On
 * some systems `cp` cannot do that, so there are two slower ways.
 */
async function copyPackages(folder: string, packages: readonly string[]): Promise<void> {
  const copy = (how: string) => run('cp', [how, '--parents', ...packages, folder], { cwd: ROOT });
  const slowly = async () => {
    for (const name of packages)
      await cp(join(ROOT, name), join(folder, name), { recursive: true, verbatimSymlinks: true });
  };
  await copy('-al')
    .catch(() => copy('-a'))
    .catch(slowly);
}
