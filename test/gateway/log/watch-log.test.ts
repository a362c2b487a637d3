import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import pino from 'pino';
import { beforeEach, expect, it } from 'vitest';
import { type OpenedLog, openLog } from '../../../gateway/log/open-log.ts';
import { collect } from '../../../subgraphs/book/ledger/collect.ts';
import type { Database } from '../../../subgraphs/database.ts';
import { type Live, type LiveLog, openLive } from '../../../subgraphs/live.ts';
import { declareBreak } from '../../../subgraphs/receipt/log/break.ts';
import { lockLogHead } from '../../../subgraphs/receipt/log/head.ts';
import { collection, issuer } from '../../harness/ledger/fixture.ts';
import { atEnd } from '../../harness/release.ts';
import { clearScratch, makeScratch } from '../../harness/scratch.ts';
import { freshStore } from '../../harness/store.ts';

interface Process {
  readonly log: OpenedLog;
  readonly live: Live & LiveLog;
  readonly data_dir: string;
  readonly lines: string[];
}

let database: Database;
let processes: readonly [Process, Process];
let number: number;

/** What of a process watches the log. */
async function open(data_dir: string): Promise<Process> {
  const lines: string[] = [];
  const logger = pino({}, { write: line => void lines.push(line) });
  const log = await openLog(database, { data_dir, issuer, logger, audit_leaves: 100 });
  const live = openLive(database);
  await log.watch.listen(live);
  atEnd(async () => {
    await log.stop();
    await live.close();
  });
  return { log, live, data_dir, lines };
}

async function append({ log }: Process): Promise<void> {
  const { tree_head } = await database.transaction(async tx =>
    collect(tx, issuer, await lockLogHead(tx, log.known), [collection(null, number++)]),
  );
  log.known.addCommit(tree_head);
  await log.saved_head.save(tree_head);
}

beforeEach(async () => {
  number = 0;
  database = await freshStore();
  const folders = [await makeScratch(), await makeScratch()] as const;
  for (const folder of folders) atEnd(() => clearScratch(folder));
  const one = await open(folders[0]);
  processes = [one, await open(folders[1])];
});

const head = async () =>
  (await database.query<{ tree_size: number; halted: { by: string } | null }>({ text: 'select * from log_head' }))[0];
const savedSize = async ({ log }: Process) => (await log.saved_head.read())?.tree_size;
/** The rows of the last leaf, gone. */
const goBack = () =>
  database.query({
    text: `with leaf as (delete from receipt where leaf_index = 2), node as (delete from log_node where index = 2 and level = 0),
        head as (delete from tree_head where tree_size = 3)
      update log_head h set tree_size = 2, root_hash = n.hash, frontier = n.hash
      from log_node n where n.level = 1 and n.index = 0`,
  });

it('a head that another process committed is known before anybody looks, and saved in this one’s folder', async () => {
  const [one, other] = processes;
  await append(one);
  await append(one);
  await other.live.catchUp();
  expect(other.log.known.heads().at(-1)?.tree_size).toBe(2);
  await expect.poll(() => savedSize(other)).toBe(2);
  expect(other.log.known.newest?.tree_size).toBe(2);
});

it('a log that went back is halted at a look, by every process, without any batch', async () => {
  const [one, other] = processes;
  for (let leaf = 0; leaf < 3; leaf++) await append(one);
  await other.live.catchUp();
  await goBack();
  for (const { log } of processes) {
    await expect.poll(() => log.standing.halt).not.toBeNull();
    expect(log.standing).toMatchObject({ sound: false, halt: { known: { tree_size: 3 }, found: { tree_size: 2 } } });
  }
  await expect(append(one)).rejects.toMatchObject({ code: 'unavailable' });
});

it('a halt that is lost with a database that goes back once more is written again, until a break is accepted', async () => {
  const [one] = processes;
  for (let leaf = 0; leaf < 3; leaf++) await append(one);
  await goBack();
  const written = () => expect.poll(async () => (await head())?.halted ?? null).not.toBeNull();
  await written();
  await database.query({ text: 'update log_head set halted = null' });
  await written();

  const found = { log_id: 1, tree_size: 2, root_hash: '0'.repeat(64) };
  const declared_at = '2026-01-02T03:04:05.678Z';
  await declareBreak(
    database,
    issuer,
    { saved: null, found, damage: [], reason: 'gone back', declared_at },
    async () => {},
  );
  for (const { lines } of processes) await expect.poll(() => lines.join()).toContain('restart this process');
  expect(await head()).toMatchObject({ halted: null });
  expect(one.log.standing.sound).toBe(false);
});

it('a saved head that cannot be read closes the till, for as long as it cannot', async () => {
  const [one] = processes;
  await append(one);
  const path = join(one.data_dir, 'log-head.json');
  const whole = await readFile(path, 'utf8');
  await writeFile(path, '{"log_id":1,"tree_si');
  await expect.poll(() => one.log.standing.sound).toBe(false);
  expect(one.log.standing.halt).toBeNull();
  await writeFile(path, whole);
  await expect.poll(() => one.log.standing.sound).toBe(true);
});

it('a saved head of another log, put there while the process runs, halts the log', async () => {
  const [one, other] = processes;
  await append(one);
  await append(other);
  const elsewhere = await freshStore();
  const folder = await makeScratch();
  atEnd(() => clearScratch(folder));
  const theirs = database;
  database = elsewhere;
  number = 100;
  const stranger = await open(folder);
  await append(stranger);
  await stranger.log.saved_head.close();
  database = theirs;
  await writeFile(join(one.data_dir, 'log-head.json'), await readFile(join(folder, 'log-head.json')));
  await expect.poll(() => one.log.standing.halt).toMatchObject({ found: { tree_size: 1 } });
});
