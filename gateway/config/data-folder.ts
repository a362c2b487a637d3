import { randomBytes } from 'node:crypto';
import { access, constants, link, mkdir, readFile, realpath, rm, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { writeDurably } from '../../subgraphs/durable-file.ts';
import { ConfigFault } from './fault.ts';

/* DATA_DIR, and the secrets that are generated once and stored in it. */

/**
 * Creates DATA_DIR if it does not exist, and returns its real path. Other users may traverse it but not list it: under root the
 * database server runs as another user and must reach its cluster. All files in it have mode 0600.
 * @throws ConfigFault if it cannot be created or written to
 */
export async function makeDataFolder(data_dir: string): Promise<string> {
  try {
    await makeFolder(resolve(data_dir));
    await access(data_dir, constants.W_OK | constants.X_OK);
    return await realpath(data_dir);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? '';
    const problem = `${data_dir} ${problems[code] ?? `cannot be created (${code})`}; name a folder that this user may write to`;
    throw new ConfigFault([{ variable: 'DATA_DIR', problem }], { cause: error });
  }
}

/**
 * Creates a folder and its parents. Node's own recursive mkdir never returns under a parent that accepts no folders, such as /proc.
 */
async function makeFolder(path: string): Promise<void> {
  if ((await stat(path).catch(unlessMissing))?.isDirectory()) return;
  if (!(await exists(dirname(path)))) await makeFolder(dirname(path));
  await mkdir(path, { mode: 0o711 }).catch(async error => {
    // The folder may exist because another process created it meanwhile.
    if (!(await stat(path).catch(() => null))?.isDirectory()) throw error;
  });
}

function unlessMissing(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT') return null;
  throw error;
}

const problems: Readonly<Record<string, string>> = {
  EEXIST: 'is not a folder',
  ENOENT: 'cannot be created in its parent folder',
  ENOTDIR: 'is below a path that is not a folder',
  EACCES: 'is not writable',
  EPERM: 'is not writable',
  EROFS: 'is on a read-only file system',
  ENOSPC: 'is on a full disk',
};

export function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

/**
 * A secret that is generated once and then stored in DATA_DIR/secrets/<name> with mode 0600. If several processes start at once,
 * all of them read the same secret: the file is complete before `link` gives it its name, which succeeds only once.
 */
export async function keptSecret(data_dir: string, name: string, make: (random: string) => string): Promise<string> {
  const folder = join(data_dir, 'secrets');
  const path = join(folder, name);
  const known = await readFile(path, 'utf8').catch(unlessMissing);
  if (known) return known.trim();
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const aside = `${path}.${process.pid}.${randomBytes(4).toString('hex')}`;
  try {
    // The secret is on disk before its first use, because without it everything that it encrypted or signed would be lost.
    await writeDurably(aside, `${make(randomBytes(32).toString('hex'))}\n`);
    await link(aside, path).catch(unlessThere);
  } finally {
    await rm(aside, { force: true });
  }
  return (await readFile(path, 'utf8')).trim();
}

function unlessThere(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EEXIST') throw error;
}
