import { execFile } from 'node:child_process';
import { access, cp, mkdir, readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { locateBuild } from '../../gateway/built.js';
import { ROOT } from './root.ts';
import { ownFolder } from './scratch.ts';

const run = promisify(execFile);
/** Files of a checkout that a production installation lacks or makes itself. */
const LEFT_OUT: ReadonlySet<string> = new Set(['.git', '.data', 'coverage', 'dist', 'node_modules', 'test']);

/**
 * The project as a production image contains it, in a folder outside of this one: sources without tests, `dist/` as `npm
 * run build` makes it, and those node_modules that `npm install --omit=dev` would install by the lock.
 */
export async function productionInstallation(): Promise<string> {
  const folder = await ownFolder();
  await run(process.execPath, ['gateway/commands/build.ts'], { cwd: ROOT });
  await copySources(folder);
  const { folder: built } = locateBuild('gateway/main.ts');
  // Without V8's compiled code, which runs from this folder add to.
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

/** npm marks in the lock which packages only a devDependency needs. Packages inside of another one are copied with it. */
async function productionPackages(): Promise<string[]> {
  const lock = JSON.parse(await readFile(join(ROOT, 'package-lock.json'), 'utf8'));
  const packages = Object.entries(lock.packages as Record<string, LockedPackage>);
  const wanted = packages.filter(([path, { dev }]) => /^node_modules\/(@[^/]+\/)?[^/]+$/.test(path) && !dev);
  const paths = await Promise.all(wanted.map(async ([path]) => ((await isThere(path)) ? [path] : [])));
  return paths.flat();
}

/**
 * As hard links if both folders are on one file system: it is half a gigabyte that nothing writes to. Not every system's
 * cp can do that.
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
