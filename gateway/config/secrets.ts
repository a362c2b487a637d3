import { randomBytes } from 'node:crypto';
import { link, mkdir, open, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';

/* Secrets that are made up once and kept in DATA_DIR. */

/**
 * A secret that is made once and then kept in DATA_DIR/secrets/<name>, 0600. Of several processes that start at once
 * one makes it and all read the same: the file is complete before it gets its name, and a name is given only once.
 */
export async function keptSecret(data_dir: string, name: string, make: (random: string) => string): Promise<string> {
  const folder = join(data_dir, 'secrets');
  const path = join(folder, name);
  const known = await readFile(path, 'utf8').catch(unlessMissing);
  if (known) return known.trim();
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const aside = `${path}.${process.pid}.${randomBytes(4).toString('hex')}`;
  try {
    await writeDurably(aside, `${make(randomBytes(32).toString('hex'))}\n`);
    await link(aside, path).catch(unlessThere);
  } finally {
    await rm(aside, { force: true });
  }
  return (await readFile(path, 'utf8')).trim();
}

/** What was sealed or signed with a secret is worth nothing without it, so it is on disk before its first use. */
async function writeDurably(path: string, text: string): Promise<void> {
  const file = await open(path, 'wx', 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
}

function unlessMissing(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT') return null;
  throw error;
}

function unlessThere(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EEXIST') throw error;
}
