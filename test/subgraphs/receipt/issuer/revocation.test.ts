import { beforeAll, describe, expect, it } from 'vitest';
import { canonicalHash, type JsonObject } from '../../../../schema/canonical-json.ts';
import { iso, systemClock } from '../../../../subgraphs/clock.ts';
import type { Database } from '../../../../subgraphs/database.ts';
import { receiptAudit } from '../../../../subgraphs/receipt/auditor/audit-documents.ts';
import type { ReceiptContext } from '../../../../subgraphs/receipt/context.ts';
import { recordIssuer, restoreHistories, revokeKey } from '../../../../subgraphs/receipt/issuer/record.ts';
import { type Issuer, openIssuer } from '../../../../subgraphs/receipt/issuer/signing-keys.ts';
import { checkpoint } from '../../../../subgraphs/receipt/log/checkpoint.ts';
import { receiptsByTask } from '../../../../subgraphs/receipt/receipt/find.ts';
import { verifyReceiptAudit } from '../../../../subgraphs/receipt/verify/audit.ts';
import { verifyReceipt } from '../../../../subgraphs/receipt/verify/receipt.ts';
import { parseJws, verifyEs256 } from '../../../../subgraphs/receipt/verify/signature.ts';
import { type ReceiptDatabase, receiptDatabase } from '../../../harness/receipt/database.ts';
import { atEnd } from '../../../harness/release.ts';
import { ownFolder } from '../../../harness/scratch.ts';

const base_url = 'https://svc.example';
const [first, second, third] = ['11', '22', '33'].map(byte => byte.repeat(32)) as [string, string, string];
const REASON = 'its backup was stolen';

let database: ReceiptDatabase;
let data_dir: string;
/** Issuer with the stolen key, in a process that was not restarted. */
let stolen: Issuer;
let current: Issuer;
/** Audit documents of two receipts: one that was signed before the key was stolen, and one signed afterwards. */
let before: Audit;
let since: Audit;
let published: { readonly history: JsonObject; readonly jwks: JsonObject };

interface Audit extends JsonObject {
  readonly receipt: JsonObject;
  readonly keys: JsonObject;
  readonly log: JsonObject;
}

function open(store: Database, folder: string, ...seeds: string[]): Promise<Issuer> {
  const issuer = openIssuer(seeds, { base_url, now_ms: systemClock.now_ms });
  const failed = (error: unknown): never => {
    throw error;
  };
  // Accepted without the previous seed, as after an operator accepted its loss.
  return recordIssuer(store, issuer, { data_dir: folder, onFailure: failed, accepted: true });
}

async function auditOf(task_id: string, issuer = current): Promise<Audit> {
  const [receipt] = await receiptsByTask(database, [task_id]);
  if (!receipt) throw new Error(`no receipt ${task_id}`);
  const shown = { database, issuer, base_url, profile: 'development', clock: systemClock, witnesses: [] };
  const context = { ...shown, newestSize: () => null } as unknown as ReceiptContext;
  return (await receiptAudit(receipt, context)) as Audit;
}

beforeAll(async () => {
  [database, data_dir] = await Promise.all([receiptDatabase(), ownFolder()]);
  atEnd(() => database.close());
  stolen = await open(database, data_dir, first);
  const { head } = await database.issue(stolen, 'task_before');
  await database.issue(stolen, 'task_since');
  current = await open(database, data_dir, second, first);
  published = { history: current.history, jwks: current.jwks };
  const since_ms = Date.parse(head.at) + 1;
  expect(await revokeKey(database, current, { data_dir, kid: stolen.kid, reason: REASON, since_ms })).toMatchObject({
    kind: 'revoked',
    revocation: {
      document: { kid: stolen.kid, since: iso(since_ms), log: { tree_size: 1, root_hash: head.root_hash } },
    },
  });
  current = await open(database, data_dir, second, first);
  await database.issue(current, 'task_after');
  [before, since] = await Promise.all([auditOf('task_before'), auditOf('task_since')]);
});

describe('a receipt of a revoked key', () => {
  it('that stood in the log before others held the key verifies, by a checkpoint of another, and it is said why', async () => {
    const verified = verifyReceiptAudit(before, before.keys);
    expect(verified).toMatchObject({ kind: 'valid' });
    expect(verified.checks.find(({ code }) => code === 'key_revoked')?.sentence).toContain('revoked');
    expect(verified.checks.map(({ sentence }) => sentence).join()).toContain(
      'the receipt was in the log before the revocation',
    );
  });

  it('that came into the log since fails, whatever time it names', async () => {
    expect(verifyReceiptAudit(since, since.keys)).toMatchObject({ kind: 'invalid', code: 'key_revoked' });
  });

  it('fails where no log stands beside it, and by itself', async () => {
    const { log: _, ...halted } = before;
    expect(verifyReceiptAudit(halted, before.keys)).toMatchObject({ kind: 'invalid', code: 'key_revoked' });
    expect(verifyReceipt(before.receipt, before.keys)).toMatchObject({ kind: 'invalid', code: 'key_revoked' });
  });

  it('fails under a checkpoint that the revoked key alone has signed', async () => {
    const [body = ''] = String(before.log.checkpoint).split('\n\n');
    const note = stolen.signNote('svc.example/log', `${body}\n`);
    const [proof] = String(before.log.tlog_proof).split('\n\n');
    const forged = { ...before, log: { ...before.log, checkpoint: note, tlog_proof: `${proof}\n\n${note}` } };
    expect(verifyReceiptAudit(forged, before.keys)).toMatchObject({ kind: 'invalid', code: 'checkpoint_invalid' });
    // With the key set from before the revocation the checkpoint is valid.
    expect(verifyReceiptAudit(forged, published.jwks).kind).toBe('valid');
  });

  it('with a place that is not its own fails', () => {
    const inclusion = { ...(since.log.inclusion as JsonObject), leaf_index: 0 };
    const moved = { ...since, log: { ...since.log, inclusion } };
    expect(verifyReceiptAudit(moved, since.keys).kind).toBe('invalid');
  });

  it('keeps no other from verifying', async () => {
    const after = await auditOf('task_after');
    expect(verifyReceiptAudit(after, after.keys).kind).toBe('valid');
    expect(verifyReceipt(after.receipt, after.keys).kind).toBe('valid');
  });
});

describe('a revoked key', () => {
  it('is named beside retired ones with its reason, and signed by the key in force', () => {
    const { keys } = current.revocations as { keys: JsonObject[] };
    expect(keys).toHaveLength(3);
    for (const key of keys)
      expect(key).toMatchObject({ status: 'revoked', reason: REASON, seq: 1, log: { tree_size: 1 } });
    const jws = parseJws(keys[0]?.statement);
    expect(verifyEs256(current.jwks, jws?.header.kid, jws?.input ?? '', jws?.signature ?? null)).toBe(true);
    expect(jws?.header.kid).toBe(current.kid);
  });

  it('stands in key set, history and DID with that, and no snapshot has another hash', () => {
    const { snapshot, hash, snapshots } = published.history;
    expect(current.history).toMatchObject({ snapshot, hash, snapshots });
    expect(canonicalHash(current.history.snapshot ?? null)).toBe(hash);
    expect(current.history).toMatchObject({ keys: [{ revoked: { reason: REASON } }, { kid: current.kid }] });
    const [newest, oldest] = [current.jwks.keys, current.did.document.verificationMethod].map(list => {
      const all = list as readonly JsonObject[];
      return [all[0], all.at(-1)] as const;
    });
    for (const pair of [newest, oldest]) {
      expect(pair?.[0]).not.toHaveProperty('revoked');
      expect(pair?.[1]).toHaveProperty('revoked');
    }
  });

  it('signs no note of the log, and no process begins by it', async () => {
    expect(current.verifierKeys('log')).toHaveLength(1);
    expect(current.signNote('log', 'text\n').trim().split('\n')).toHaveLength(3);
    await expect(open(database, data_dir, first)).rejects.toThrow(`was revoked at`);
    await expect(open(database, data_dir, first)).rejects.toThrow(REASON);
    await expect(open(database, data_dir, first, second)).rejects.toThrow('never signs again');
  });

  it('is noticed by a process that signs by it, and the database takes no head of it', async () => {
    expect(stolen.standing).toBe('in_force');
    await stolen.renew();
    expect(stolen.standing).toBe('revoked');
    await expect(database.issue(stolen, 'task_late')).rejects.toThrow('was revoked, and signs no more');
    expect(await receiptsByTask(database, ['task_late'])).toEqual([null]);
  });

  it('is so for good: not twice, not one that signs or that nobody knows, and no row is changed', async () => {
    const again = (kid: string) => revokeKey(database, current, { data_dir, kid, reason: 'x', since_ms: null });
    expect(await again(stolen.kid)).toMatchObject({ kind: 'already_revoked' });
    expect(await again(current.kid)).toEqual({ kind: 'current_key' });
    expect(await again('nobody')).toEqual({ kind: 'unknown_key' });
    const unsigned = openIssuer([third], { base_url, now_ms: systemClock.now_ms });
    await expect(
      revokeKey(database, unsigned, { data_dir, kid: current.kid, reason: 'x', since_ms: null }),
    ).rejects.toThrow('has not signed yet');
    for (const sql of ['delete from issuer_revocation', `update issuer_revocation set hash = 'x'`])
      await expect(database.query({ text: sql })).rejects.toThrow('append-only');
  });

  it('stays so where an older dump is restored: the copy outside the database says it', async () => {
    const [row] = await database.query<{ jws: string }>({ text: 'select jws from issuer_revocation' });
    await unguarded('delete from issuer_revocation');
    await expect(open(database, data_dir, second)).rejects.toThrow('the list of revoked keys is shorter than its copy');
    expect(await restoreHistories(database, data_dir)).toContain('1 of the list of revoked keys');
    expect(await database.query({ text: 'select jws from issuer_revocation' })).toEqual([row]);
    await open(database, data_dir, second);
  });

  it.each([
    [`update issuer_revocation set jws = reverse(jws)`, 'is not signed by a key in force'],
    [`update issuer_revocation set document = replace(document, 'stolen', 'lost')`, 'does not match its hash'],
    [`update issuer_revocation set activated_at = activated_at - interval '1 day'`, 'names another time'],
  ])('refuses the start where its row was changed: %s', async (sql, fault) => {
    await unguarded(sql);
    await expect(open(database, data_dir, second)).rejects.toThrow(fault);
    await unguarded('delete from issuer_revocation');
    await restoreHistories(database, data_dir);
  });

  it('is revoked by a leak before the first leaf, too: none of its receipts verifies then', async () => {
    const latest = await open(database, data_dir, third);
    await revokeKey(database, latest, { data_dir, kid: current.kid, reason: 'x', since_ms: 1 });
    const audit = await auditOf('task_after', await open(database, data_dir, third));
    expect(verifyReceiptAudit(audit, audit.keys)).toMatchObject({ kind: 'invalid', code: 'key_revoked' });
    // Its earlier revocation of the other key remains, because this key was valid at that time.
    expect(audit.keys.keys as readonly JsonObject[]).toMatchObject([
      ...Array(3).fill({ kid: expect.any(String) }),
      ...Array(3).fill({ revoked: { tree_size: 0 } }),
      ...Array(3).fill({ revoked: { tree_size: 1 } }),
    ]);
  });
});

it('a process that has not heard of a new key vouches for the head that it signed all the same', async () => {
  const [store, folder] = await Promise.all([receiptDatabase(), ownFolder()]);
  atEnd(() => store.close());
  const older = await open(store, folder, first);
  await store.issue(await open(store, folder, second), 'task_by_another');
  expect(await checkpoint({ database: store, issuer: older, witnesses: [] })).toMatchObject({ kind: 'known' });
});

it('a key that gave way takes nothing new in the last ten minutes of its hour, and what it took is recorded in them', async () => {
  const [store, folder] = await Promise.all([receiptDatabase(), ownFolder()]);
  atEnd(() => store.close());
  let ahead_minutes = 0;
  const clocked = openIssuer([first], { base_url, now_ms: () => systemClock.now_ms() + ahead_minutes * 60_000 });
  const older = await recordIssuer(store, clocked, { data_dir: folder, onFailure: () => {} });
  expect(older.signs_until_ms).toBeNull();
  await open(store, folder, second);
  await older.renew();
  const standings = [0, 49, 51].map(minutes => {
    ahead_minutes = minutes;
    return older.standing;
  });
  expect(standings).toEqual(['in_force', 'in_force', 'retired']);
  await store.issue(older, 'task_taken_before');
});

it('a key that gave way long ago signs no head either', async () => {
  const [store, folder] = await Promise.all([receiptDatabase(), ownFolder()]);
  atEnd(() => store.close());
  const retired = await open(store, folder, first);
  await open(store, folder, second);
  await store.issue(retired, 'task_within_the_hour');
  await store.transaction(async tx => {
    await tx.query('alter table issuer_snapshot disable trigger user');
    await tx.query(`update issuer_snapshot set activated_at = activated_at - interval '61 minutes'`);
    await tx.query('alter table issuer_snapshot enable trigger user');
  });
  await expect(store.issue(retired, 'task_too_late')).rejects.toThrow('was retired, and signs no more');
});

async function unguarded(sql: string): Promise<void> {
  await database.transaction(async tx => {
    await tx.query('alter table issuer_revocation disable trigger user');
    await tx.query(sql);
    await tx.query('alter table issuer_revocation enable trigger user');
  });
}
