import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { describe, expect, it } from 'vitest';
import { ConfigFault } from '../../../gateway/config/fault.ts';
import { everyFeature } from '../../../gateway/features/every-feature.ts';
import { openStore, tablesWith } from '../../../gateway/parts.ts';
import { openDatabase } from '../../../subgraphs/database.ts';
import { JOBS_SCHEMA } from '../../../subgraphs/migrate-jobs.ts';
import type { MigrationClass } from '../../../subgraphs/migration.ts';
import { receiptEntities } from '../../../subgraphs/receipt/index.ts';
import { databaseBeforeBaselines, emptyDatabase } from '../../harness/before-baselines.ts';

const every: readonly MigrationClass[] = tablesWith(everyFeature).migrations;
const baselines = every.filter(({ replaces }) => replaces !== undefined);
const CORE = ['BoardCoreBaseline', 'BookCoreBaseline', 'ReceiptCoreBaseline', 'SessionCoreBaseline'];
const BASELINES = [...CORE, 'ReconciliationBaseline', 'ScoreBaseline', 'TotalsBaseline'].sort();
/** The baselines and the migrations after them. */
const ALL = [...BASELINES, 'TotalsUnplacedPayments'].sort();
const RECORD = 'mikro_orm_migrations';

type Row = Readonly<Record<string, unknown>>;

async function rowsAt(url: string, ...statements: readonly string[]): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const rows: Row[] = [];
    for (const text of statements) rows.push(...(await client.query<Row>(text)).rows);
    return rows;
  } finally {
    await client.end();
  }
}

const recordOf = async (url: string) =>
  (await rowsAt(url, `select name from ${RECORD} order by name`)).map(it => it.name);

/** Opens the database with the baselines only, without later migrations. */
async function openAndClose(url: string): Promise<void> {
  const database = await openDatabase({ url, entities: receiptEntities, migrations: baselines, connections_max: 1 });
  await database.close();
}

/** Everything in schema public in a fixed order, read by queries that the service does not use. */
const everything = [
  // Uses the rank of a column, because column numbers have gaps where columns were dropped.
  `select attrelid::regclass, rank() over (partition by attrelid order by attnum) as place, attname, format_type(atttypid, atttypmod), attnotnull, attidentity, attgenerated,
      attcollation, attstorage, attcompression, attstattarget, attoptions, pg_get_expr(adbin, adrelid)
    from pg_attribute left join pg_attrdef on adrelid = attrelid and adnum = attnum
    where attnum > 0 and not attisdropped
      and attrelid in (select oid from pg_class where relnamespace = 'public'::regnamespace)
    order by attrelid::regclass::text, attnum`,
  `select relname, relkind, relpersistence, relrowsecurity, relreplident, reloptions from pg_class
    where relnamespace = 'public'::regnamespace order by relname`,
  `select indexname, indexdef from pg_indexes where schemaname = 'public' order by indexname`,
  `select conrelid::regclass, conname, pg_get_constraintdef(oid) from pg_constraint
    where connamespace = 'public'::regnamespace order by conrelid::regclass::text, conname`,
  `select tgrelid::regclass, tgenabled, pg_get_triggerdef(oid) from pg_trigger
    where not tgisinternal and tgrelid in (select oid from pg_class where relnamespace = 'public'::regnamespace)
    order by tgname`,
  `select proname, prosrc, pg_get_functiondef(oid) as definition from pg_proc
    where pronamespace = 'public'::regnamespace and prokind = 'f' order by 1, 3`,
  `select schemaname, sequencename, data_type, start_value, min_value, max_value, increment_by, cycle, cache_size
    from pg_sequences where schemaname = 'public' order by sequencename`,
  `select * from pg_rules where schemaname = 'public' order by tablename, rulename`,
  `select stxname, pg_get_statisticsobjdef(oid) from pg_statistic_ext order by stxname`,
  `select typname, typtype from pg_type where typnamespace = 'public'::regnamespace order by typname`,
  // The schema of jobs is left out, because it belongs to its library.
  `select extname, extnamespace::regnamespace from pg_extension order by extname`,
  `select nspname from pg_namespace where nspname <> '${JOBS_SCHEMA}' order by nspname`,
];

/** Every row of every table except the migrator's own. */
async function contentsOf(url: string): Promise<Row> {
  const tables = await rowsAt(
    url,
    `select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r' and relname <> '${RECORD}'`,
  );
  const contents = tables.map(async ({ name }) => [
    name,
    await rowsAt(url, `select t::text from ${name} t order by 1`),
  ]);
  return Object.fromEntries(await Promise.all(contents));
}

/** Expects a refusal whose one sentence says what to do. The database keeps its data and its record of migrations. */
async function refusesUnchanged(url: string, told: string): Promise<void> {
  const before = [await recordOf(url), await contentsOf(url), await rowsAt(url, ...everything)];
  const refusal = await openStore(url).catch(error => error);
  expect(refusal).toBeInstanceOf(ConfigFault);
  expect(refusal.message).toMatch(/^DATABASE_URL: the database at .*; nothing was changed$/);
  expect(refusal.message).toContain(told);
  expect([await recordOf(url), await contentsOf(url), await rowsAt(url, ...everything)]).toEqual(before);
}

/** Changes that someone may have made since, and the text that reports each. */
const differences = [
  ['drop index payment_claim_open', 'index payment_claim_open is missing'],
  ['alter table payment_claim drop column mismatches', 'column payment_claim.mismatches is missing'],
  ['alter table book add column note text', 'column book.note was added'],
  ['alter table receipt reset (toast_tuple_target)', 'table receipt is another'],
  ['alter table receipt alter column value set storage external', 'column receipt.value is another'],
  ['alter table log_head set unlogged', 'table log_head is another'],
  ['alter table book alter column spent_atomic drop default', 'column book.spent_atomic is another'],
  ['alter table refusal alter column task_id drop not null', 'column refusal.task_id is another'],
  ['alter table board_post alter column latency_ms type bigint', 'column board_post.latency_ms is another'],
  [
    'alter table book_row drop constraint book_row_payment',
    'constraint book_row_payment of book_row is missing',
    'index book_row_payment is missing',
  ],
  ['alter table key_call add check (task_id <> $$$$)', 'constraint key_call_task_id_check of key_call was added'],
  ['alter table receipt_policy disable trigger all', 'trigger receipt_policy_append_only of receipt_policy is another'],
  ['create unique index book_row_once on book_row (row_hash)', 'index book_row_once was added'],
  [
    'alter table tree_head add exclude using btree (jws with =)',
    'constraint tree_head_jws_excl of tree_head was added',
  ],
  ['create rule kept as on delete to tree_head do instead nothing', 'rule kept of tree_head was added'],
  ['alter sequence agent_id_seq increment 2', 'sequence agent_id_seq is another'],
  [
    'create or replace function refuse_history_change() returns trigger language plpgsql as $$ begin return null; end $$',
    'function refuse_history_change() is another',
  ],
] as const;

it('the baselines make what the migrations before them made, and nothing else', async () => {
  const url = await emptyDatabase();
  await openAndClose(url);
  const before = await databaseBeforeBaselines();
  expect(await rowsAt(url, ...everything)).toEqual(await rowsAt(before, ...everything));
  expect(await recordOf(url)).toEqual(BASELINES);
});

describe('a database that the migrations before the baselines made', () => {
  it('is stamped, and every row of it and every definition is left as it was', async () => {
    const url = await databaseBeforeBaselines();
    const [contents, definitions] = [await contentsOf(url), await rowsAt(url, ...everything)];
    await openAndClose(url);
    expect(await recordOf(url)).toEqual(BASELINES);
    expect(await contentsOf(url)).toEqual(contents);
    expect(await rowsAt(url, ...everything)).toEqual(definitions);
    // This includes the sums by which reservations are decided.
    expect(contents.book).toHaveLength(1);
  });

  it('is stamped once by several processes that start on it at once', async () => {
    const url = await databaseBeforeBaselines();
    await Promise.all([openAndClose(url), openAndClose(url), openAndClose(url)]);
    expect(await recordOf(url)).toEqual(BASELINES);
  });

  it('may hold what is not ours: tables, functions and aggregates of its operator', async () => {
    const url = await databaseBeforeBaselines();
    await rowsAt(
      url,
      'create table report (day date primary key)',
      'create view spent as select sum(spent_atomic) from book',
      'create function seven() returns int language sql as $$ select 7 $$',
      'create aggregate total(int) (sfunc = int4pl, stype = int)',
      `insert into ${RECORD} (name) values ('OfAFeatureThatIsNoLongerListed')`,
    );
    await openAndClose(url);
    expect(await recordOf(url)).toEqual([...BASELINES, 'OfAFeatureThatIsNoLongerListed'].sort());
  });

  it('may be tuned by its operator, and stays so: indexes that refuse no row, and how it is vacuumed and sampled', async () => {
    const url = await databaseBeforeBaselines();
    await rowsAt(
      url,
      'create index book_row_by_model on book_row (model, collected_at) where amount > 0',
      'create index on receipt using gin (co_signature)',
      'alter table book_row set (autovacuum_vacuum_scale_factor = 0.01, toast.autovacuum_enabled = off, fillfactor = 90)',
      'alter table receipt set (log_autovacuum_min_duration = 0, vacuum_truncate = off, toast.autovacuum_vacuum_threshold = 9)',
      'alter table book_row alter column model set statistics 500, alter column hub set (n_distinct = 5)',
    );
    const definitions = await rowsAt(url, ...everything);
    await openAndClose(url);
    expect(await recordOf(url)).toEqual(BASELINES);
    expect(await rowsAt(url, ...everything)).toEqual(definitions);
  });

  it('may lack what depends on the server: the indexes by an extension that came to it later', async () => {
    const url = await databaseBeforeBaselines();
    await rowsAt(url, 'drop extension pg_trgm cascade');
    await openAndClose(url);
    expect(await recordOf(url)).toEqual(BASELINES);
    expect(await rowsAt(url, `select 1 from pg_class where relname ~ '_similar$'`)).toEqual([]);
  });

  it('may have that extension in a schema of its own, also where that is searched', async () => {
    const url = await databaseBeforeBaselines();
    await rowsAt(
      url,
      'create schema extensions',
      'alter extension pg_trgm set schema extensions',
      `alter database ${new URL(url).pathname.slice(1)} set search_path = public, extensions`,
    );
    await openAndClose(url);
    expect(await recordOf(url)).toEqual(BASELINES);
  });

  it('is taken over by a service without a feature, and later by one with it', async () => {
    const url = await databaseBeforeBaselines();
    const features = everyFeature.filter(({ name }) => name !== 'score');
    await (await openStore(url, { features })).close();
    const without = [...ALL.filter(name => name !== 'ScoreBaseline'), 'BoardScores', 'BoardScoresWeighable'];
    expect(await recordOf(url)).toEqual(without.sort());
    await (await openStore(url)).close();
    expect(await recordOf(url)).toEqual(ALL);
  });

  it('is compared with what is made, and not with first rows that are taken from others: no receipt is read', async () => {
    const url = await databaseBeforeBaselines();
    const features = everyFeature.filter(({ name }) => name !== 'totals' && name !== 'reconciliation');
    await (await openStore(url, { features })).close();
    // Makes every read of the table fail.
    await rowsAt(url, 'alter table receipt rename to receipt_away');
    await openAndClose(url);
    expect(await recordOf(url)).toEqual(BASELINES);
  });

  it('is given the tables of features that it was without, with what they count of what stands', async () => {
    const url = await databaseBeforeBaselines();
    await rowsAt(
      url,
      `drop table ${['state', 'seen', 'row', 'book', 'node', 'page'].map(it => `totals_${it}`).join(', ')}`,
      'drop table board_funding, board_funding_head, reconciliation, reconciliation_transfer',
      `delete from ${RECORD} where name in ('ProvenTotals', 'Reconciliations', 'BoardScores', 'BoardScoresWeighable')`,
      `update receipt set ingress_receipt = '{"ref":"base:0x01"}' where leaf_index = 0`,
    );
    await openAndClose(url);
    expect(await recordOf(url)).toEqual(BASELINES);
    expect(await rowsAt(url, 'select payment_ref from totals_seen')).toEqual([{ payment_ref: 'base:0x01' }]);
    const url_of_one = await databaseBeforeBaselines();
    expect(await rowsAt(url, ...everything)).toEqual(await rowsAt(url_of_one, ...everything));
  });

  it('lacks what was seen while the totals were away, until the statement in the README of features has run', async () => {
    const url = await databaseBeforeBaselines();
    await openAndClose(url);
    const seen = (ref: string, leaf_index: number) =>
      `update receipt set ingress_receipt = '{"ref":"${ref}"}' where leaf_index = ${leaf_index}`;
    await rowsAt(url, seen('base:0x01', 0), seen('base:0x02', 1));
    await rowsAt(url, `insert into totals_seen select task_id, 'base:0x01', 7, true from receipt where leaf_index = 0`);
    await (await openStore(url)).close();
    const kept = () => rowsAt(url, 'select payment_ref, transfer_index, counted from totals_seen order by payment_ref');
    const before = { payment_ref: 'base:0x01', transfer_index: 7, counted: true };
    expect(await kept()).toEqual([before]);
    const page = await readFile(join(import.meta.dirname, '../../../gateway/features/README.md'), 'utf8');
    const statement = String(/```sql\n([^`]+)```/.exec(page)?.[1]);
    await rowsAt(url, statement, statement);
    const since = { payment_ref: 'base:0x02', transfer_index: null, counted: false };
    expect(await kept()).toEqual([before, since]);
  });

  it('is refused where it is not as they left it, in one sentence that names each difference; nothing is written', async () => {
    const url = await databaseBeforeBaselines();
    await rowsAt(url, ...differences.map(([statement]) => statement));
    const before = [await recordOf(url), await rowsAt(url, ...everything)];
    const refusal = await openStore(url).catch(error => error);
    expect(refusal).toBeInstanceOf(ConfigFault);
    expect(refusal.message).toMatch(/^DATABASE_URL: the database at .* was made by an earlier version, and is not as/);
    expect(refusal.message.split('\n')).toHaveLength(1);
    const [, named = ''] = /that left it \((.*)\): make/.exec(refusal.message) ?? [];
    expect(named.split(', ').sort()).toEqual(differences.flatMap(([, ...told]) => told).sort());
    expect([await recordOf(url), await rowsAt(url, ...everything)]).toEqual(before);
  });

  it.each([
    [
      `name = 'WholeRequests'`,
      'was made by an earlier version, and has not run WholeRequests: start the last version that runs it on it once,',
    ],
    [
      `name in ('BoardJobFlags', 'RefundsNameTheirCharge')`,
      'has not run RefundsNameTheirCharge, BoardJobFlags: start the last version that runs them on it once,',
    ],
    // Removes the record of one of the two migrations of the score.
    [`name = 'BoardScoresWeighable'`, 'has not run BoardScoresWeighable: '],
    [`id > 40`, 'has not run CorrectionMerges, EscrowFulfillments, YieldedRows, PullExportExtent and 34 more: '],
  ])(
    'is refused where it has not run all that they replace, and is left as it was: all but `%s`',
    async (which, told) => {
      const url = await databaseBeforeBaselines();
      await rowsAt(url, `delete from ${RECORD} where ${which}`);
      await refusesUnchanged(url, told);
    },
  );

  it('is refused where it has run nothing that this version knows: one of before earlier baselines', async () => {
    const url = await databaseBeforeBaselines();
    await rowsAt(
      url,
      `delete from ${RECORD}`,
      `insert into ${RECORD} (name) values ('ReceiptLogMigration'), ('BookTables'), ('SessionTables'), ('BoardTables')`,
    );
    await refusesUnchanged(
      url,
      'has not run ReceiptBaseline, JobWorkers, LogCosignatures, KeyRevocations and 74 more: ',
    );
  });
});

describe('a database whose record has lost what made a table that stands', () => {
  const of = (name: string) => baselines.find(baseline => baseline.name === name)?.replaces ?? [];
  const listed = (names: readonly string[]) => names.map(name => `'${name}'`).join(', ');

  it.each([
    [
      'all of one subgraph',
      of('BoardCoreBaseline'),
      'has the tables board_agent_day, board_bid, board_comment, board_completion and 11 more, and no row of public.mikro_orm_migrations says what made them: restore',
    ],
    [
      'all of a feature',
      of('ReconciliationBaseline'),
      'has the tables reconciliation, reconciliation_transfer, and no row',
    ],
    [
      'everything',
      baselines.flatMap(({ replaces = [] }) => replaces),
      'has the tables a2a_escrow, a2a_escrow_backing, ',
    ],
  ])('is refused before the others are stamped, and is left as it was: %s', async (_which, names, told) => {
    const url = await databaseBeforeBaselines();
    await rowsAt(url, `delete from ${RECORD} where name in (${listed(names)})`);
    await refusesUnchanged(url, told);
  });

  it('is refused also where that was a baseline', async () => {
    const url = await emptyDatabase();
    await openAndClose(url);
    await rowsAt(url, `delete from ${RECORD} where name = 'ScoreBaseline'`);
    await refusesUnchanged(url, 'has the tables board_funding, board_funding_head, and no row');
  });

  it('and so is one with a table of somebody else by such a name', async () => {
    const url = await emptyDatabase();
    await rowsAt(url, 'create table agent (name text primary key)');
    const refusal = await openStore(url).catch(error => error);
    expect(refusal).toBeInstanceOf(ConfigFault);
    expect(refusal.message).toContain(
      'has the table agent, and no row of public.mikro_orm_migrations says what made it:',
    );
    expect(await rowsAt(url, `select 1 from pg_class where relname in ('${RECORD}', 'receipt')`)).toEqual([]);
  });
});

describe('a database whose user finds another schema before public', () => {
  it.each([
    ['own', 'schema own'],
    ['absent', 'no schema that is there'],
  ])('is refused before anything is made in it (search_path %s)', async (path, found) => {
    const url = await emptyDatabase();
    const { pathname, username } = new URL(url);
    await rowsAt(
      url,
      'create schema own',
      `alter role ${username} in database ${pathname.slice(1)} set search_path = ${path}, public`,
      ...(path === 'absent' ? [`drop schema public`] : []),
    );
    const refusal = await openStore(url).catch(error => error);
    expect(refusal).toBeInstanceOf(ConfigFault);
    expect(refusal.message).toContain(`has ${found} first in the user's search_path`);
    expect(await rowsAt(url, `select 1 from pg_class where relname = '${RECORD}'`)).toEqual([]);
  });
});
