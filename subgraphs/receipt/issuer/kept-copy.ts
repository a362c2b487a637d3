import { randomUUID } from 'node:crypto';
import { readFileSync, renameSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import { syncFolderOf, writeDurably } from '../../durable-file.ts';
import { withFileLock } from '../log/file-lock.ts';

import { BrokenHistory, type Histories, requireSound } from './histories.ts';
import type { RevocationDocument } from './revocation.ts';
import type { Version } from './snapshot.ts';

/**
 * Copies of the histories in DATA_DIR, where the saved tree head is too. Restoring an older dump of the database cannot undo them. Null for
 * a history without a copy.
 */
export type KeptCopies = { readonly [name in keyof Histories]: Histories[name] | null };

export const copyFiles = {
  snapshots: 'issuer-history.json',
  policies: 'receipt-policy-history.json',
  revocations: 'issuer-revocations.json',
} as const satisfies Record<keyof Histories, string>;

const isObject = (value: unknown) => z.record(z.string(), z.json()).safeParse(value).success;
const object = z.custom<JsonObject>(isObject);
const version = z.object({
  version: z.int(),
  hash: z.string(),
  document: object,
  previous_hash: z.string().nullable(),
  activated_at: z.iso.datetime(),
});
const keys = z.object({ es256: object, ed25519: object, secp256k1: object });
const stored = {
  snapshots: z.array(version.extend({ keys, jws: z.string() })),
  policies: z.array(version),
  revocations: z.array(version.extend({ document: z.custom<RevocationDocument>(isObject), jws: z.string() })),
} as const;

/** Reads the copies. @throws BrokenHistory if a file cannot be read, or is not sound. Such a file must not be treated as missing. */
export function readCopies(data_dir: string): KeptCopies {
  const copies = {
    snapshots: readCopy(join(data_dir, copyFiles.snapshots), stored.snapshots),
    policies: readCopy(join(data_dir, copyFiles.policies), stored.policies),
    revocations: readCopy(join(data_dir, copyFiles.revocations), stored.revocations),
  };
  const { snapshots, policies, revocations } = copies;
  const kept = { snapshots: snapshots ?? [], policies: policies ?? [], revocations: revocations ?? [] };
  requireSound(kept, `its copy in ${data_dir}`);
  return copies;
}

function readCopy<T>(path: string, shape: z.ZodType<T>): T | null {
  try {
    return shape.parse(JSON.parse(readFileSync(path, 'utf8')));
  } catch (fault) {
    if ((fault as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw new BrokenHistory(`the copy of a history in ${path} cannot be read; restore that file`, { cause: fault });
  }
}

/**
 * Resolves when copies at least as long as these histories are on disk. A shorter copy never replaces a longer one, even one that another
 * process wrote.
 */
export async function keepCopies(data_dir: string, { snapshots, policies, revocations }: Histories): Promise<void> {
  await keepCopy(join(data_dir, copyFiles.snapshots), snapshots, stored.snapshots);
  await keepCopy(join(data_dir, copyFiles.policies), policies, stored.policies);
  // Most services never revoke a key, and then there is no such file.
  if (revocations.length > 0) await keepCopy(join(data_dir, copyFiles.revocations), revocations, stored.revocations);
}

/** Writes another file, syncs it, renames it and syncs the folder, so that after a power cut either the old copy or the new one exists. */
async function keepCopy<V extends Version>(path: string, versions: readonly V[], shape: z.ZodType<V[]>): Promise<void> {
  const suffices = () => (readCopy(path, shape)?.length ?? -1) >= versions.length;
  if (suffices()) return;
  const aside = `${path}.${randomUUID()}.tmp`;
  try {
    await writeDurably(aside, `${JSON.stringify(versions, null, 2)}\n`);
    let placed = false;
    while (!placed) {
      placed = await withFileLock(`${path}.lock`, held => {
        if (suffices()) return true;
        if (held()) renameSync(aside, path);
        return held();
      });
    }
  } finally {
    await rm(aside, { force: true });
  }
  await syncFolderOf(path);
}
