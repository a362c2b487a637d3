import { execFile } from 'node:child_process';
import { access, cp, mkdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { ROOT } from './root.ts';
import { ownFolder } from './scratch.ts';

const run = promisify(execFile);
const OUTPUT_BYTES_MAX = 16 * 1024 * 1024;

/**
 * The project as an image for production carries it, in a folder outside of this one: sources without tests, `dist/` as
 * `npm run build` makes it, and of node_modules what `npm install --omit=dev` would leave by the lock.
 */
export async function productionInstallation(): Promise<string> {
  const folder = await ownFolder();
  await run(process.execPath, ['gateway/commands/build.ts'], { cwd: ROOT });
  await copySources(folder);
  // Without V8's code, to which those who run it here add.
  const filter = (path: string) => basename(path) !== 'v8';
  await cp(join(ROOT, 'dist'), join(folder, 'dist'), { recursive: true, filter });
  await mkdir(join(folder, 'node_modules'));
  await copyPackages(folder, await productionPackages());
  return folder;
}

async function copySources(folder: string): Promise<void> {
  const listing = ['ls-files', '--cached', '--others', '--exclude-standard'];
  const { stdout } = await run('git', listing, { cwd: ROOT, maxBuffer: OUTPUT_BYTES_MAX });
  for (const file of stdout.split('\n'))
    if (file && !file.startsWith('test/') && (await isThere(file))) await cp(join(ROOT, file), join(folder, file));
}

/** A file that is deleted and not yet committed so is listed all the same. */
function isThere(path: string): Promise<boolean> {
  return access(join(ROOT, path)).then(
    () => true,
    () => false,
  );
}

interface Locked {
  readonly dev?: boolean;
}

/** npm marks in the lock what only a devDependency needs. What lies inside of another package comes along with that. */
async function productionPackages(): Promise<string[]> {
  const lock = JSON.parse(await readFile(join(ROOT, 'package-lock.json'), 'utf8'));
  const packages = Object.entries(lock.packages as Record<string, Locked>);
  const wanted = packages.filter(([path, { dev }]) => /^node_modules\/(@[^/]+\/)?[^/]+$/.test(path) && !dev);
  const paths = await Promise.all(wanted.map(async ([path]) => ((await isThere(path)) ? [path] : [])));
  return paths.flat();
}

/** As hard links where that is one file system: half a gigabyte, and nobody writes there. */
async function copyPackages(folder: string, packages: readonly string[]): Promise<void> {
  const copy = (how: string) => run('cp', [how, '--parents', ...packages, folder], { cwd: ROOT });
  await copy('-al').catch(() => copy('-a'));
}
