import { mkdir, open } from 'node:fs/promises';
import { dirname } from 'node:path';

/* Files that survive a power cut: both the file and the folder that contains its name are synced. */

/** Resolves when a new file is on disk. Its name is on disk once `syncFolderOf` has resolved. @throws if the file exists already. */
export async function writeDurably(path: string, text: string): Promise<void> {
  const create = () => open(path, 'wx', 0o600);
  // The folder usually exists, and checking first would cost one more system call for each file.
  const file = await create().catch(async fault => {
    if (fault.code !== 'ENOENT') throw fault;
    await mkdir(dirname(path), { recursive: true });
    return create();
  });
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Resolves when the names in the folder of `path` are on disk. Without this, a power cut may undo a rename. */
export async function syncFolderOf(path: string): Promise<void> {
  const folder = await open(dirname(path), 'r');
  await folder.sync().finally(() => folder.close());
}
