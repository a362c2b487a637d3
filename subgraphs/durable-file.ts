import { mkdir, open } from 'node:fs/promises';
import { dirname } from 'node:path';

/* Files that survive a power cut: written, synced, and named in a synced folder. */

/** Resolves when a new file is on disk; its name is, once `syncFolderOf` has resolved. @throws where it is there already. */
export async function writeDurably(path: string, text: string): Promise<void> {
  const create = () => open(path, 'wx', 0o600);
  // The folder usually exists: asking first would cost one more system call for each file.
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

/** Resolves when the names in the folder of `path` are on disk: a rename may else be undone by a power cut. */
export async function syncFolderOf(path: string): Promise<void> {
  const folder = await open(dirname(path), 'r');
  await folder.sync().finally(() => folder.close());
}
