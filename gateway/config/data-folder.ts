import { access, constants, mkdir, realpath, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { ConfigFault } from './fault.ts';

/**
 * Makes DATA_DIR if need be and gives its real path. Others may pass through and not look around: as root the
 * database server runs as another user and must reach its cluster inside; every file in here is 0600 by itself.
 * @throws ConfigFault where it cannot be had.
 */
export async function makeDataFolder(data_dir: string): Promise<string> {
  try {
    await makeFolder(resolve(data_dir));
    await access(data_dir, constants.W_OK | constants.X_OK);
    return await realpath(data_dir);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? '';
    const problem = `${data_dir} ${problems[code] ?? `cannot be made (${code})`}; name a folder that this user may write to`;
    throw new ConfigFault([{ variable: 'DATA_DIR', problem }], { cause: error });
  }
}

/** Node's own recursion never returns where a parent takes no folders, as /proc. */
async function makeFolder(path: string): Promise<void> {
  if ((await stat(path).catch(unlessMissing))?.isDirectory()) return;
  if (!(await exists(dirname(path)))) await makeFolder(dirname(path));
  await mkdir(path, { mode: 0o711 }).catch(async error => {
    // Somebody else was faster.
    if (!(await stat(path).catch(() => null))?.isDirectory()) throw error;
  });
}

function unlessMissing(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT') return null;
  throw error;
}

const problems: Readonly<Record<string, string>> = {
  EEXIST: 'is not a folder',
  ENOENT: 'cannot be made: its parent takes no folders',
  ENOTDIR: 'lies below what is not a folder',
  EACCES: 'is not writable',
  EPERM: 'is not writable',
  EROFS: 'lies on what is mounted read-only',
  ENOSPC: 'has no room left',
};

export function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
