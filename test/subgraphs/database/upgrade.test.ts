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
const BASELINES = ['BoardBaseline', 'BookBaseline', 'ReceiptBaseline', 'SessionBaseline'];
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

/** By the baselines alone, whatever came after them. */
async function openAndClose(url: string): Promise<void> {
  const database = await openDatabase({ url, entities: receiptEntities, migrations: baselines, connections_max: 1 });
  await database.close();
}

/** Everything in schema public, asked for otherwise than the service does, and in the columns' order. */
const everything = [
  `select attrelid::regclass, attnum, attname, format_type(atttypid, atttypmod), attnotnull, attidentity, attgenerated,
      attcollation, attstorage, attcompression, attstattarget, attoptions, pg_get_expr(adbin, adrelid)
    from pg_attribute left join pg_attrdef on adrelid = attrelid and adnum = attnum
    where attnum > 0 and attrelid in (select oid from pg_class where relnamespace = 'public'::regnamespace)
    order by attrelid::regclass::text, attnum`,
  `select relname, relkind, relpersistence, relrowsecurity, relreplident, reloptions from pg_class
    where relnamespace = 'public'::regnamespace order by relname`,
  `select indexname, indexdef from pg_indexes where schemaname = 'public' order by indexname`,
  `select conrelid::regclass, conname, pg_get_constraintdef(oid) from pg_constraint
    where connamespace = 'public'::regnamespace order by conrelid::regclass::text, conname`,
  `select tgrelid::regclass, tgenabled, pg_get_triggerdef(oid) from pg_trigger
    where not tgisinternal and tgrelid in (select oid from pg_class where relnamespace = 'public'::regnamespace)
    order by tgname`,
  `select proname, prosrc, pg_get_functiondef(oid) from pg_proc where pronamespace = 'public'::regnamespace order by 1`,
  `select schemaname, sequencename, data_type, start_value, min_value, max_value, increment_by, cycle, cache_size
    from pg_sequences where schemaname = 'public' order by sequencename`,
  `select * from pg_rules where schemaname = 'public' order by tablename, rulename`,
  `select stxname, pg_get_statisticsobjdef(oid) from pg_statistic_ext order by stxname`,
  `select typname, typtype from pg_type where typnamespace = 'public'::regnamespace order by typname`,
  // That of jobs is its library's.
  `select nspname from pg_namespace where nspname <> '${JOBS_SCHEMA}' order by nspname`,
];

/** Every row of every table but the migrator's own. */
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

/** What somebody may have done to it since, and how that is told. */
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
    // Sums that a reservation is judged by are among them.
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
    );
    await openAndClose(url);
    expect(await recordOf(url)).toEqual(BASELINES);
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
    [`delete from ${RECORD} where name = 'IdempotentCalls'`, 'has not run IdempotentCalls'],
    [`insert into ${RECORD} (name) values ('BookBaseline')`, 'has run BookBaseline beside'],
    [
      `update ${RECORD} set name = 'Other' where name = 'BoardTables'`,
      'has not run BoardTables and has run Other beside',
    ],
  ])('is refused where it has run others than all of them: `%s`', async (statement, held) => {
    const url = await databaseBeforeBaselines();
    await rowsAt(url, statement);
    const before = [await recordOf(url), await contentsOf(url)];
    const refusal = await openStore(url).catch(error => error);
    expect(refusal).toBeInstanceOf(ConfigFault);
    expect(refusal.message).toMatch(/^DATABASE_URL: the database at .* was made by an earlier version, but /);
    expect(refusal.message).toContain(held);
    expect([await recordOf(url), await contentsOf(url)]).toEqual(before);
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
