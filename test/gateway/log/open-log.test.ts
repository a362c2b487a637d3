import { randomUUID } from 'node:crypto';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import pino from 'pino';
import { describe, expect, it } from 'vitest';
import { openLog } from '../../../gateway/log/open-log.ts';
import type { Database } from '../../../subgraphs/database.ts';
import { renewLease } from '../../../subgraphs/receipt/claim/lease.ts';
import { declareBreak, headToContinue } from '../../../subgraphs/receipt/log/break.ts';
import { createSlots } from '../../../subgraphs/receipt/log/head-slots.ts';
import { proveLogIntact } from '../../../subgraphs/receipt/log/prove-intact.ts';
import { type SavedHead } from '../../../subgraphs/receipt/log/saved-head.ts';
import { collectAll, collection, issuer } from '../../harness/ledger/fixture.ts';
import { headOf } from '../../harness/log/leaves.ts';
import { atEnd } from '../../harness/release.ts';
import { clearScratch, makeScratch } from '../../harness/scratch.ts';
import { freshStore } from '../../harness/store.ts';

const ALL = 1_000;

interface SavedLog {
  readonly database: Database;
  readonly data_dir: string;
  readonly lines: string[];
  open(audit_leaves?: number, folder?: string): ReturnType<typeof openLog>;
}

/** A database with a log of nine leaves, and the DATA_DIR in which its head is saved. */
async function nineLeaves(): Promise<SavedLog> {
  const database = await freshStore();
  const data_dir = await makeScratch();
  atEnd(() => clearScratch(data_dir));
  const lines: string[] = [];
  const logger = pino({}, { write: line => void lines.push(line) });
  const open = async (audit_leaves = ALL, folder = data_dir) => {
    const opened = await openLog(database, { data_dir: folder, issuer, logger, audit_leaves });
    atEnd(() => opened.stop());
    return opened;
  };
  const { saved_head } = await open();
  for (const batch of [
    [1, 2, 3, 4],
    [5, 6, 7],
    [8, 9],
  ])
    await grow(database, saved_head, batch);
  await saved_head.close();
  return { database, data_dir, lines, open };
}

async function grow(database: Database, saved_head: SavedHead, numbers: readonly number[]): Promise<void> {
  const items = numbers.map(number => collection(null, number));
  const { tree_head } = await database.transaction(tx => collectAll(tx, items));
  await saved_head.save(tree_head);
}

const WAY_ON = 'npm run accept-log-break -- "REASON"';
const SAVED = /saved outside the database has size 9, root [0-9a-f]{64}/;
const FOUND = /the database has size \d+, root [0-9a-f]{64}/;

/** The head of the first four leaves: as long as it was once, and as it was signed. */
const turned_back = `update log_head set tree_size = 4,
  root_hash = (select hash from log_node where level = 2 and index = 0),
  frontier = (select hash from log_node where level = 2 and index = 0)`;
const cut = `delete from log_node where (index + 1) * (2 ^ level) > 4; delete from receipt where leaf_index >= 4;
  delete from tree_head where tree_size > 4`;

describe('the first start', () => {
  it('saves the head of the empty log, so that one that dies before its first receipt is saved starts again', async () => {
    const database = await freshStore();
    const data_dir = await makeScratch();
    atEnd(() => clearScratch(data_dir));
    const options = { data_dir, issuer, logger: pino({ level: 'silent' }), audit_leaves: ALL };
    const { saved_head } = await openLog(database, options);
    expect(await saved_head.read()).toMatchObject({ tree_size: 0 });
    await database.transaction(tx => collectAll(tx, [collection(null, 1)]));
    await openLog(database, options);
    await rm(join(data_dir, 'log-head.json'));
    await expect(openLog(database, options)).rejects.toThrow('no saved head');
  });

  it('of one more process on a log that others serve: joins them, by the head that they signed', async () => {
    const { database, open } = await nineLeaves();
    await database.transaction(tx => renewLease(tx, randomUUID()));
    const data_dir = await makeScratch();
    atEnd(() => clearScratch(data_dir));
    const { saved_head } = await open(ALL, data_dir);
    expect(await saved_head.read()).toMatchObject({ tree_size: 9 });
  });
});

describe('a start on a log that is not the one that was signed', () => {
  it.each<[what: string, harm: string, named: string | RegExp]>([
    [
      'a receipt that was rewritten',
      `update receipt set payload = payload || ' ' where leaf_index = 2`,
      'at leaf 2: its receipt has the hash',
    ],
    ['a receipt that was deleted', `delete from receipt where leaf_index = 5`, 'at leaf 5: its receipt is missing'],
    ['the newest receipt deleted', `delete from receipt where leaf_index = 8`, 'at leaf 8: its receipt is missing'],
    [
      'a leaf that was rewritten',
      `update log_node set hash = sha256(hash) where level = 0 and index = 1`,
      'at leaf 1: its receipt has the hash',
    ],
    ['a leaf that was deleted', `delete from log_node where level = 0 and index = 6`, 'the stored hash is missing'],
    [
      'a node that was rewritten',
      `update log_node set hash = sha256(hash) where level = 1 and index = 1`,
      'at node 1 of level 1: its children have the hash',
    ],
    [
      'a peak that was rewritten',
      `update log_node set hash = sha256(hash) where level = 3 and index = 0`,
      'the log is rewritten: ',
    ],
    ['a peak that was deleted', `delete from log_node where level = 3 and index = 0`, 'the log is rewritten: '],
    ['its head turned back, its rows cut', `${turned_back}; ${cut}`, 'the log is shrunken: '],
    ['its head turned back before its rows', turned_back, 'the log is shrunken: '],
    ['its rows cut behind its head', cut, 'the log contradicts itself'],
    ['its newest signed head deleted', 'delete from tree_head where tree_size = 9', 'the log contradicts itself'],
    ['a row beyond its head', `insert into log_node values (0, 9, sha256(''))`, 'the log contradicts itself'],
  ])('%s: refused, naming both heads and the one command', async (_what, harm, named) => {
    const { database, open } = await nineLeaves();
    await open();
    await database.query({ text: harm });
    const refusal = await open().catch((error: Error) => error.message);
    expect(refusal).toEqual(expect.stringContaining(named as string));
    expect(refusal).toEqual(expect.stringMatching(SAVED));
    expect(refusal).toEqual(expect.stringMatching(FOUND));
    expect(refusal).toEqual(expect.stringContaining(WAY_ON));
  });

  it('whose head is not saved any more: refused, for nobody could say whether it has shrunk', async () => {
    const { data_dir, open } = await nineLeaves();
    await rm(join(data_dir, 'log-head.json'));
    await expect(open()).rejects.toThrow(/no saved head at .*log-head\.json.*: the database has size 9/);
    await expect(open()).rejects.toThrow(WAY_ON);
  });

  it.each([
    ['larger', 12, 'the log is shrunken: the head saved outside the database has size 12'],
    ['smaller', 7, 'the log is rewritten: the head saved outside the database has size 7'],
  ])('that differs from what one of several processes has signed, %s: refused', async (_what, size, named) => {
    const { data_dir, open } = await nineLeaves();
    const other = await createSlots(join(data_dir, 'log-head'), { epoch: 0, head: headOf('x'.repeat(size)) });
    atEnd(async () => other.close());
    await expect(open()).rejects.toThrow(named);
    await expect(open()).rejects.toThrow(WAY_ON);
  });

  it('whose saved head was damaged on its disk: refused', async () => {
    const { data_dir, open } = await nineLeaves();
    const path = join(data_dir, 'log-head.json');
    const whole = await readFile(path, 'utf8');
    for (const text of ['', whole.slice(0, 40), 'null', whole.replace('"tree_size": 9', '"tree_size": 4')]) {
      await writeFile(path, text);
      await expect(open()).rejects.toThrow(/log-head\.json cannot be read/);
      await expect(open()).rejects.toThrow(WAY_ON);
    }
  });
});

describe('damage that was declared', () => {
  it('is passed over at the next start, and every other is not', async () => {
    const { database, open } = await nineLeaves();
    await database.query({ text: `update receipt set payload = payload || ' ' where leaf_index = 2` });
    const { found } = await proveLogIntact(database, null);
    const head = await headToContinue(database, found);
    expect(head).toMatchObject({ tree_size: 9 });
    const logged = `select encode(hash, 'hex') as stored from log_node where level = 0 and index = 2`;
    const [leaf] = await database.query<{ stored: string }>({ text: logged });
    const [receipt] = await database.query<{ computed: string }>({
      text: String.raw`select encode(sha256('\x00'::bytea || convert_to(payload, 'UTF8')), 'hex') as computed
        from receipt where leaf_index = 2`,
    });
    const damage = [{ level: 0, index: 2, computed: receipt?.computed ?? '', stored: leaf?.stored ?? '' }];
    const declared_at = '2026-01-02T03:04:05.678Z';
    await declareBreak(
      database,
      issuer,
      { saved: found, found, damage, reason: 'a disk', declared_at },
      async () => {},
    );
    await open();
    await database.query({ text: `update receipt set payload = payload || ' ' where leaf_index = 3` });
    await expect(open()).rejects.toThrow('at leaf 3');
  });
});

describe('the leaves that a start leaves out', () => {
  it('are audited while the service runs: sound as long as nothing is found', async () => {
    const { open, lines } = await nineLeaves();
    const { guard } = await open(2);
    await expect.poll(() => guard.audited).toBe(7);
    expect([guard.sound, lines]).toEqual([true, []]);
  });

  it('are named in the log when they are damaged, and the log is not sound any more', async () => {
    const { database, open, lines } = await nineLeaves();
    await database.query({ text: `update receipt set payload = payload || ' ' where leaf_index = 2` });
    const { guard } = await open(2);
    await expect.poll(() => guard.sound).toBe(false);
    expect(lines.join()).toContain('the log was rewritten at leaf 2');
    expect(lines.join()).toContain('accept-log-break');
    await guard.stop();
  });
});
