import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { syncFolderOf, writeDurably } from '../../../subgraphs/durable-file.ts';
import type { Difference } from './catch-up.ts';

/** Two checkpoints of one log, both signed by it, of which neither extends the other. */
export interface Fork {
  readonly origin: string;
  /** With this witness's own cosignature. */
  readonly cosigned: string;
  readonly found: string;
  /** Null where it is not known. */
  readonly difference: Difference | null;
  /** ISO 8601. */
  readonly at: string;
}

/** A log that signs forks without end fills no disk. */
const FILES_MAX = 64;

/** Keeps both; null where there are enough of them. `name` is the same for the same two. */
export async function keepEvidence(folder: string, name: string, fork: Fork): Promise<string | null> {
  const { difference, origin, at, cosigned, found } = fork;
  const path = join(folder, `${name}.json`);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const names = await readdir(folder);
  if (names.includes(`${name}.json`)) return path;
  if (names.length >= FILES_MAX) return null;
  const leaf = difference && {
    index: difference.index,
    kept: difference.kept.toString('hex'),
    found: difference.found.toString('hex'),
  };
  const text = JSON.stringify({ origin, at, first_differing_leaf: leaf, cosigned, found }, null, 2);
  await writeDurably(path, `${text}\n`).catch(unlessThere);
  await syncFolderOf(path);
  return path;
}

function unlessThere(fault: NodeJS.ErrnoException): void {
  if (fault.code !== 'EEXIST') throw fault;
}
