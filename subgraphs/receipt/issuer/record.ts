import { setTimeout as sleep } from 'node:timers/promises';
import { isJsonObject, type JsonObject } from '../../../schema/canonical-json.ts';
import { iso } from '../../clock.ts';
import type { Database, Tx } from '../../database.ts';
import { anybodyServes } from '../claim/lease.ts';
import { EMPTY_ROOT } from '../verify/merkle-proof.ts';
import { appendHistories, FollowedHistories, lockHistories, readHistories, UNSIGNED_MS } from './follow.ts';
import {
  BrokenHistory,
  type Histories,
  type RevocationOutcome,
  requireSound,
  requireSuccession,
  revokeInHistories,
} from './histories.ts';
import { copyFiles, type KeptCopies, keepCopies, readCopies } from './kept-copy.ts';
import type { RevocationDocument } from './revocation.ts';
import { type Issuer, issuerOf } from './signing-keys.ts';
import type { Version } from './snapshot.ts';

export interface RecordOptions {
  /** Folder in which copies of the histories are kept outside the database. */
  readonly data_dir: string;
  /** Called when a renewal fails. The known histories are still published. */
  onFailure(error: unknown): void;
  /** The operator's statement that these seeds replace a key that they do not contain. */
  readonly accepted?: true;
}

/** Age below which a key counts as new. It is more than the clocks of two machines may differ. */
const YOUNG_MS = 60_000;

const WAY_ON =
  'Restore the database and the files that belong together; versions that the database lacks and the copy holds are put ' +
  'back by: npm run accept-log-break -- "REASON"';

/**
 * Returns the issuer with the histories of the database. What its seeds and this code add is appended, by one process if several start at
 * once, and is copied to DATA_DIR before anything is signed with it. The log must have been proven before.
 * @throws BrokenHistory if the database is behind its copy or contradicts it, or the seeds do not continue it.
 */
export async function recordIssuer(database: Database, issuer: Issuer, options: RecordOptions): Promise<Issuer> {
  const { data_dir, accepted = false } = options;
  const copies = readCopies(data_dir);
  const { known, histories } = await database.transaction(async tx => {
    await lockHistories(tx);
    const known = await readHistories(tx);
    requireSound(known, 'the database');
    requireKept(known, copies, data_dir);
    const histories = issuer.historiesAfter(known, await databaseTime(tx));
    if (!accepted) requireSuccession(known, issuer.kids);
    if (copies.snapshots === null || copies.policies === null) await requireSigned(tx, histories);
    appendHistories(tx, known, histories);
    return { known, histories };
  });
  await keepCopies(data_dir, histories);
  // After this pause every process publishes the new key, so that clients can verify every receipt.
  if ((histories !== known || isYoung(histories, issuer)) && (await anybodyServes(database))) await sleep(UNSIGNED_MS);
  return issuerOf(issuer, new FollowedHistories(database, histories, options));
}

/**
 * Time of the database's clock, which also dates every leaf. The clock of this process is not used: what a key has signed is always
 * compared with the times of the key, and a history never changes.
 */
async function databaseTime(tx: Tx): Promise<number> {
  const text = 'select floor(extract(epoch from clock_timestamp()) * 1000)::float8 as now_ms';
  const { rows } = await tx.query<{ now_ms: number }>(text);
  const [row] = rows;
  if (row === undefined) throw new Error('the database returned no time');
  return row.now_ms;
}

/** Whether another process may have appended the newest key just now, so that other processes may not have read it yet. */
function isYoung({ snapshots }: Histories, { now_ms }: Issuer): boolean {
  const newest = snapshots.length > 1 ? snapshots.at(-1) : undefined;
  return newest !== undefined && Math.abs(now_ms() - Date.parse(newest.activated_at)) < YOUNG_MS;
}

export interface Compromise {
  /** Kid of the ES256 key of the leaked seed. */
  readonly kid: string;
  readonly reason: string;
  /** Time from which others may have had the key, in milliseconds since 1970. Null for now. */
  readonly since_ms: number | null;
}

/**
 * Revokes a key that was replaced. What the log contained by then stays valid; everything else that the key has signed becomes invalid. The
 * head of the log is locked meanwhile, so that no batch that the revoked key has signed is committed. @throws BrokenHistory
 */
export async function revokeKey(
  database: Database,
  issuer: Issuer,
  { data_dir, kid, reason, since_ms }: Compromise & Pick<RecordOptions, 'data_dir'>,
): Promise<RevocationOutcome> {
  const copies = readCopies(data_dir);
  const revoking = await database.transaction(async tx => {
    await lockHistories(tx);
    const known = await readHistories(tx);
    requireSound(known, 'the database');
    requireKept(known, copies, data_dir);
    const now_ms = await databaseTime(tx);
    if (issuer.historiesAfter(known, now_ms) !== known)
      throw new BrokenHistory('the first key of ISSUER_KEYS has not signed yet: start the service with it first');
    const log = await logBy(tx, since_ms);
    const revoked = { kid, reason, since: iso(since_ms ?? now_ms), log };
    const said = revokeInHistories(known, revoked, {
      sign: claims => issuer.signJws({ iss: issuer.base_url, ...claims }),
      now_ms,
    });
    if (said.kind === 'revoked') appendHistories(tx, known, said.histories);
    return said;
  });
  if (revoking.kind === 'revoked') await keepCopies(data_dir, revoking.histories);
  return revoking;
}

/** Size and root of the log at that time, or now if no time is given. The head of the log stays locked until the transaction ends. */
async function logBy(tx: Tx, since_ms: number | null): Promise<RevocationDocument['log']> {
  const { rows: now } = await tx.query<LogSize>('select tree_size, root_hash from log_head for update');
  const newest = now[0];
  if (newest === undefined) throw new Error('the log has no head');
  if (since_ms === null) return { tree_size: newest.tree_size, root_hash: newest.root_hash.toString('hex') };
  const { rows } = await tx.query<{ tree_size: number; root_hash: string }>({
    text: 'select tree_size, root_hash from tree_head where at < $1 order by tree_size desc limit 1',
    values: [new Date(since_ms)],
  });
  return rows[0] ?? { tree_size: 0, root_hash: EMPTY_ROOT.toString('hex') };
}

interface LogSize {
  readonly tree_size: number;
  readonly root_hash: Buffer;
}

/**
 * Puts back, for an operator, the versions that the copy has and the database has lost. Without a copy, the histories of the database are
 * accepted as they are. Returns a sentence about what was done, or null if nothing was. @throws BrokenHistory
 */
export async function restoreHistories(database: Database, data_dir: string): Promise<string | null> {
  const copies = readCopies(data_dir);
  const { known, histories } = await database.transaction(async tx => {
    await lockHistories(tx);
    const known = await readHistories(tx);
    requireSound(known, 'the database');
    const histories = {
      snapshots: longer(known.snapshots, copies.snapshots),
      policies: longer(known.policies, copies.policies),
      revocations: longer(known.revocations, copies.revocations),
    };
    requireKept(histories, copies, data_dir);
    appendHistories(tx, known, histories);
    return { known, histories };
  });
  await keepCopies(data_dir, histories);
  return putBack(known, histories, copies, data_dir);
}

function putBack(
  known: Histories,
  { snapshots, policies, revocations }: Histories,
  copies: KeptCopies,
  data_dir: string,
) {
  if (copies.snapshots === null || copies.policies === null)
    return `${data_dir} holds no copy of the histories: from now on they are those of the database, as they stand there.`;
  const keys = snapshots.length - known.snapshots.length;
  const terms = policies.length - known.policies.length;
  const ended = revocations.length - known.revocations.length;
  if (keys + terms + ended === 0) return null;
  return (
    `Restored from ${data_dir}: ${keys} versions of the issuer history, ${terms} of the receipt policy history` +
    `${ended > 0 ? `, ${ended} of the list of revoked keys` : ''}.`
  );
}

/** Returns the copy if it continues what the database has, otherwise what the database has. */
function longer<V extends Version>(found: readonly V[], kept: readonly V[] | null): readonly V[] {
  const continues = kept !== null && found.every(({ hash }, index) => kept[index]?.hash === hash);
  return continues ? kept : found;
}

function requireKept(found: Histories, kept: KeptCopies, data_dir: string): void {
  requireVersions('issuer history', found.snapshots, kept.snapshots ?? [], `${data_dir}/${copyFiles.snapshots}`);
  requireVersions('receipt policy history', found.policies, kept.policies ?? [], `${data_dir}/${copyFiles.policies}`);
  const path = `${data_dir}/${copyFiles.revocations}`;
  requireVersions('list of revoked keys', found.revocations, kept.revocations ?? [], path);
}

function requireVersions(what: string, found: readonly Version[], kept: readonly Version[], path: string): void {
  const missing = kept.find(({ hash }, index) => found[index]?.hash !== hash);
  if (missing === undefined) return;
  const { version, hash } = missing;
  const stands = found[version - 1];
  const fault = stands === undefined ? 'is shorter than its copy' : 'contradicts its copy';
  throw new BrokenHistory(
    `the ${what} ${fault}: ${path} has ${kept.length} versions, version ${version} with hash ${hash}; ` +
      `the database has ${found.length}, ${stands ? `version ${version} with hash ${stands.hash}` : 'and not that one'}. ${WAY_ON}`,
  );
}

/**
 * Checks the histories if there is no copy to confirm them: the newest receipt of the log must have signed a version of each. @throws
 * BrokenHistory
 */
async function requireSigned(
  tx: Tx,
  { snapshots, policies }: Pick<Histories, 'snapshots' | 'policies'>,
): Promise<void> {
  const { rows } = await tx.query<{ task_id: string; payload: string }>(
    'select task_id, payload from receipt order by leaf_index desc limit 1',
  );
  for (const { task_id, payload } of rows) {
    const { issuer_history, receipt_policy } = JSON.parse(payload) as JsonObject;
    for (const [what, signed, versions] of [
      ['issuer history', issuer_history, snapshots],
      ['receipt policy history', receipt_policy, policies],
    ] as const) {
      if (!isJsonObject(signed) || versions.some(({ hash }) => hash === signed.hash)) continue;
      throw new BrokenHistory(
        `receipt ${task_id} has signed version ${signed.version} of the ${what}, with hash ${signed.hash}, which is neither one of ` +
          `those in the database nor made by ISSUER_KEYS: add the seeds that signed until now. ${WAY_ON}`,
      );
    }
  }
}
