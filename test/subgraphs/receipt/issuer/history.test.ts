import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createLocalJWKSet, type JSONWebKeySet, jwtVerify } from 'jose';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../schema/canonical-json.ts';
import type { Database } from '../../../../subgraphs/database.ts';
import { policies } from '../../../../subgraphs/receipt/issuer/policy.ts';
import { recordIssuer, restoreHistories } from '../../../../subgraphs/receipt/issuer/record.ts';
import { type Issuer, openIssuer } from '../../../../subgraphs/receipt/issuer/signing-keys.ts';
import { receiptDocument } from '../../../../subgraphs/receipt/receipt/document.ts';
import { receiptsByTask } from '../../../../subgraphs/receipt/receipt/find.ts';
import { verifyReceipt } from '../../../../subgraphs/receipt/verify/receipt.ts';
import { type ReceiptDatabase, receiptDatabase } from '../../../harness/receipt/database.ts';
import { atEnd } from '../../../harness/release.ts';
import { clearScratch, makeScratch } from '../../../harness/scratch.ts';

const base_url = 'https://svc.example';
const [first, second, third] = ['11', '22', '33'].map(byte => byte.repeat(32)) as [string, string, string];

interface StoredHistory {
  readonly database: ReceiptDatabase;
  readonly data_dir: string;
  /** Opens the issuer of a process that starts with these seeds, of which the first is the current one. */
  open(...seeds: string[]): Promise<Issuer>;
}

async function folder(): Promise<string> {
  const data_dir = await makeScratch();
  atEnd(() => clearScratch(data_dir));
  return data_dir;
}

async function store(): Promise<ReceiptDatabase> {
  const database = await receiptDatabase();
  atEnd(() => database.close());
  return database;
}

const issuerOf = (...seeds: string[]) => openIssuer(seeds, { base_url, now_ms: () => Date.now() });

async function kept(): Promise<StoredHistory> {
  const [database, data_dir] = await Promise.all([store(), folder()]);
  return { database, data_dir, open: (...seeds) => record(database, data_dir, ...seeds) };
}

/** Records an issuer even without the previous seed, as after an operator accepted its loss. */
function record(database: Database, data_dir: string, ...seeds: string[]): Promise<Issuer> {
  return recordIssuer(database, issuerOf(...seeds), { data_dir, onFailure: unexpected, accepted: true });
}

function unexpected(error: unknown): never {
  throw error;
}

const versions = ({ history }: Issuer) => (history as { snapshots: { version: number; hash: string }[] }).snapshots;
const kidsIn = ({ jwks }: Issuer) => (jwks as never as JSONWebKeySet).keys.map(({ kid }) => kid);
const rowsOf = (database: Database, table = 'issuer_snapshot') =>
  database.query<{ version: number; hash: string }>({ text: `select version, hash from ${table} order by version` });

/** Runs SQL with the triggers disabled, as anyone with access to the database could. */
async function unguarded(database: Database, sql: string): Promise<void> {
  await database.transaction(async tx => {
    for (const table of ['issuer_snapshot', 'receipt_policy'])
      await tx.query(`alter table ${table} disable trigger user`);
    await tx.query(sql);
    for (const table of ['issuer_snapshot', 'receipt_policy'])
      await tx.query(`alter table ${table} enable trigger user`);
  });
}

describe('ISSUER_KEYS replaced wholly, the old seed gone', () => {
  it('retires nobody without an operator’s word, also where another process has just begun by its own seed', async () => {
    const { database, data_dir, open } = await kept();
    const serving = await open(first);
    const stranger = recordIssuer(database, issuerOf(second), { data_dir, onFailure: unexpected });
    await expect(stranger).rejects.toThrow(/ISSUER_KEYS lacks the seed.*npm run accept-changed -- ISSUER_KEYS/);
    expect(await rowsOf(database)).toHaveLength(1);
    expect(serving.standing).toBe('in_force');
    await recordIssuer(database, issuerOf(second, first), { data_dir, onFailure: unexpected });
    expect(await rowsOf(database)).toHaveLength(2);
    await recordIssuer(database, issuerOf(second), { data_dir, onFailure: unexpected });
  });

  it('leaves version 1 as it was: old receipts verify by what is published, new ones sign version 2', async () => {
    const { database, open } = await kept();
    const before = await open(first);
    await database.issue(before, 'task_old');
    const after = await open(second);
    await database.issue(after, 'task_new');

    expect(after.historySnapshot({ version: 1 })).toMatchObject({
      hash: before.issuer_history.hash,
      snapshot: (before.history as { snapshot: JsonObject }).snapshot,
    });
    expect(after.historySnapshot({ hash: before.issuer_history.hash })).toMatchObject({ version: 1 });
    expect(after.issuer_history).toMatchObject({ version: 2, seq: 2 });
    expect(after.history).toMatchObject({ version: 2, snapshot: { previous_hash: before.issuer_history.hash } });
    expect(kidsIn(after)).toEqual([...kidsIn(issuerOf(second)), ...kidsIn(before)]);
    expect(JSON.stringify(after.did.document)).toContain(before.did.receipt_kid);

    for (const [task_id, issuer] of [['task_old', before] as const, ['task_new', after] as const]) {
      const [receipt] = await receiptsByTask(database, [task_id]);
      if (!receipt) throw new Error(`no receipt ${task_id}`);
      const document = receiptDocument(receipt, base_url, 'development');
      expect(document.payload).toMatchObject({ issuer_history: issuer.issuer_history });
      expect(verifyReceipt(document, after.jwks)).toMatchObject({ kind: 'valid' });
      await expect(
        jwtVerify(receipt.jws, createLocalJWKSet(after.jwks as never as JSONWebKeySet)),
      ).resolves.toBeDefined();
    }
  });

  it('is noticed by a process that already serves, before anything is signed by the new key', async () => {
    const { database, data_dir, open } = await kept();
    const serving = await open(first);
    const elsewhere = await record(database, await folder(), second);
    await serving.renew();
    expect(kidsIn(serving)).toEqual(kidsIn(elsewhere));
    expect(serving.issuer_history.version).toBe(1);
    expect(versions(serving)).toHaveLength(2);
    const copy = JSON.parse(await readFile(join(data_dir, 'issuer-history.json'), 'utf8')) as unknown[];
    expect(copy).toHaveLength(2);
  });
});

describe('a process whose clock is off by hours', () => {
  const HOURS_MS = 2 * 3_600_000;
  it.each([
    ['behind', -HOURS_MS],
    ['ahead', HOURS_MS],
  ])('%s, ends no key of another and begins none early: what both sign verifies', async (_, off_ms) => {
    const { database, data_dir, open } = await kept();
    const before = await open(first);
    await database.issue(before, 'task_old');
    const off = openIssuer([second], { base_url, now_ms: () => Date.now() + off_ms });
    await recordIssuer(database, off, { data_dir, onFailure: unexpected, accepted: true });
    await before.renew();
    expect(before.standing).toBe('in_force');
    await database.issue(before, 'task_beside');
    const after = await open(second, first);
    await database.issue(after, 'task_new');
    for (const task_id of ['task_old', 'task_beside', 'task_new']) {
      const [receipt] = await receiptsByTask(database, [task_id]);
      const document = receipt && receiptDocument(receipt, base_url, 'development');
      expect(verifyReceipt(document ?? {}, after.jwks)).toMatchObject({ kind: 'valid' });
    }
  });
});

describe('a process that serves while its database', () => {
  /** An issuer whose later reads go through `query`, and the failures that it reported. */
  async function served(query: (database: Database) => Database['query']) {
    const { database, data_dir, open } = await kept();
    await open(first);
    const failures: unknown[] = [];
    const changed = { ...database, query: query(database) };
    const failed = (error: unknown) => void failures.push(error);
    return {
      database,
      failures,
      issuer: await recordIssuer(changed, issuerOf(first), { data_dir, onFailure: failed }),
    };
  }

  it.each<[what: string, query: Database['query']]>([
    ['is away', () => Promise.reject(new Error('away'))],
    ['does not answer', () => new Promise(() => {})],
  ])('%s goes on publishing what it knows', async (_, query) => {
    const { issuer } = await served(() => query);
    await issuer.renew();
    await issuer.renew();
    expect(issuer.jwks.keys).toEqual(issuerOf(first).jwks.keys);
  });

  it('holds a version that nobody signed publishes none of it, and says so', async () => {
    const { database, issuer, failures } = await served(({ query }) => query);
    await record(database, await folder(), second);
    await unguarded(database, `update issuer_snapshot set jws = reverse(jws) where version = 2`);
    await issuer.renew();
    expect(versions(issuer)).toHaveLength(1);
    expect(String(failures[0])).toContain('is not signed by its own key');
  });
});

describe('several processes that start at once', () => {
  it('append one version', async () => {
    const { database, data_dir, open } = await kept();
    await open(first);
    const folders = [data_dir, await folder(), await folder()];
    const opened = await Promise.all(folders.map(each => record(database, each, second)));
    for (const issuer of opened) expect(issuer.issuer_history).toEqual(opened[0]?.issuer_history);
    expect(await rowsOf(database)).toEqual(
      versions(await open(second)).map(({ version, hash }) => ({ version, hash })),
    );
    expect(await rowsOf(database)).toHaveLength(2);
    expect(await rowsOf(database, 'receipt_policy')).toHaveLength(policies.length);
  });

  it('append nothing that is known, and a retired key comes back to none of them', async () => {
    const { database, open } = await kept();
    await open(second, first);
    await open(second);
    await open(second, first);
    expect(await rowsOf(database)).toHaveLength(2);
    await expect(open(first)).rejects.toThrow('retired by version 2');
    await expect(open(second, third)).rejects.toThrow('does not contain');
    expect(await rowsOf(database)).toHaveLength(2);
  });
});

describe('a row of a history', () => {
  it.each(['issuer_snapshot', 'receipt_policy'])('of %s can be neither changed nor dropped', async table => {
    const { database, open } = await kept();
    await open(first);
    for (const sql of [`update ${table} set hash = 'x'`, `delete from ${table}`, `truncate ${table}`])
      await expect(database.query({ text: sql })).rejects.toThrow(`${table} is append-only`);
  });

  it.each<[what: string, sql: string, fault: string]>([
    ['of another time', `update issuer_snapshot set activated_at = activated_at - interval '1 day'`, 'has signed'],
    ['of another document', `update issuer_snapshot set document = replace(document, 'current', 'retired')`, 'hash'],
    [
      'beside another key',
      `update issuer_snapshot set keys = jsonb_set(keys, '{es256,x}', keys #> '{es256,y}')`,
      'another thumbprint',
    ],
    ['of another signature', `update issuer_snapshot set jws = reverse(jws)`, 'not signed by its own key'],
    ['that is missing before others', `delete from receipt_policy where version = 1`, 'another number'],
  ])('%s refuses the start', async (_, sql, fault) => {
    const { database, open } = await kept();
    await open(first);
    await unguarded(database, sql);
    await expect(open(first)).rejects.toThrow(fault);
  });
});

describe('a database behind its copy', () => {
  it('refuses the start, naming both, until the operator has its rows put back', async () => {
    const { database, data_dir, open } = await kept();
    const before = await open(second, first);
    const hashes = versions(before).map(({ hash }) => hash);
    await unguarded(
      database,
      'delete from issuer_snapshot where version = 2; delete from receipt_policy where version > 1',
    );
    const refused = await open(second, first).catch(String);
    expect(refused).toContain('the issuer history is shorter than its copy');
    expect(refused).toContain(`${data_dir}/issuer-history.json has 2 versions, version 2 with hash ${hashes[1]}`);
    expect(refused).toContain('the database has 1');
    expect(refused).toContain('npm run accept-log-break');
    expect(await rowsOf(database)).toHaveLength(1);

    expect(await restoreHistories(database, data_dir)).toContain('1 versions of the issuer history');
    expect(await restoreHistories(database, data_dir)).toBeNull();
    const after = await open(second);
    expect(after.history).toEqual(before.history);
    expect(after.issuer_history).toEqual(before.issuer_history);
  });

  it('refuses the start where a version is another, also under the seeds that made it', async () => {
    const [one, other] = [await kept(), await kept()];
    await one.open(first);
    await other.open(second);
    for (const seed of [first, second]) {
      const refused = await record(other.database, one.data_dir, seed).catch(String);
      expect(refused).toContain('the issuer history contradicts its copy');
      expect(refused).toContain(issuerOf(first).issuer_history.hash);
      expect(refused).toContain(issuerOf(second).issuer_history.hash);
    }
    expect(await rowsOf(other.database)).toHaveLength(1);
  });

  it('refuses the start where the copy cannot be read, or was changed', async () => {
    const { data_dir, open } = await kept();
    await open(first);
    const path = join(data_dir, 'issuer-history.json');
    const text = await readFile(path, 'utf8');
    for (const damaged of ['', '{', '{}', 'null', text.replace('current', 'retired')]) {
      await writeFile(path, damaged);
      await expect(open(first)).rejects.toThrow(/cannot be read|does not match its hash/);
    }
  });
});

describe('a database without a copy', () => {
  it('that others serve, or whose log agrees, has one written anew', async () => {
    const { database, data_dir, open } = await kept();
    await database.issue(await open(first), 'task_a');
    await rm(join(data_dir, 'issuer-history.json'));
    await open(first);
    expect(JSON.parse(await readFile(join(data_dir, 'issuer-history.json'), 'utf8'))).toHaveLength(1);
  });

  it('refuses the start where its newest receipt has signed another history', async () => {
    const [database, data_dir] = await Promise.all([store(), folder()]);
    // The history of a seed that is no longer given, as from a time before such rows existed.
    await database.issue(issuerOf(first), 'task_a');
    await expect(record(database, data_dir, third)).rejects.toThrow('add the seeds that signed until now');
    expect(await rowsOf(database)).toHaveLength(0);
    await record(database, data_dir, third, first);
    expect(await rowsOf(database)).toHaveLength(2);
    expect((await record(database, data_dir, third)).issuer_history.version).toBe(2);
  });

  it('goes on where those seeds are lost for good, once the operator says so', async () => {
    const [database, data_dir] = await Promise.all([store(), folder()]);
    await database.issue(issuerOf(first), 'task_a');
    expect(await restoreHistories(database, data_dir)).toContain('holds no copy');
    expect((await record(database, data_dir, third)).issuer_history.version).toBe(1);
  });
});
