import { randomBytes } from 'node:crypto';
import type pg from 'pg';
import { catalogueOf, differencesOf } from './catalogue.ts';
import { migrateJobs } from './migrate-jobs.ts';
import type { MigrationClass } from './migration.ts';
import type { OrmOptions } from './orm.ts';

/**
 * The schema cannot be brought up to date, for example because the tables match neither this version nor the version that made them. The
 * message is the rest of a sentence that begins with "the database".
 */
export class UnknownSchema extends Error {
  override name = 'UnknownSchema';
}

const MIGRATION_LOCK = 7_402_001;

interface MigrateParts {
  readonly connect: () => Promise<pg.Client>;
  readonly settings: pg.ClientConfig;
  readonly before: ((client: pg.Client) => Promise<void>) | undefined;
}

/**
 * Brings our schema and that of jobs up to date. If several processes start at once, one of them does it. `settings`: settings of the
 * connections that `connect` opens. `before` reads the schema first, while no other process migrates it. Returns the version of the server,
 * such as 180004 for 18.4. @throws UnknownSchema
 */
export async function migrate(schema: OrmOptions, { connect, settings, before }: MigrateParts): Promise<number> {
  const lock = await connect();
  try {
    await lock.query('set lock_timeout = 0; set idle_in_transaction_session_timeout = 0');
    await lock.query('select pg_advisory_lock($1)', [MIGRATION_LOCK]);
    await requirePublic(lock);
    await before?.(lock);
    await stampBaselines(lock, schema.migrations);
    if (await isBehind(lock, schema.migrations)) {
      const { runMigrations } = await import('./orm.ts');
      await runMigrations(schema);
    }
    await migrateJobs(lock, settings);
    const { rows } = await lock.query<{ server_version_num: string }>('show server_version_num');
    return Number(rows[0]?.server_version_num);
  } finally {
    await lock.end();
  }
}

/** Schema of all tables and functions. */
const SCHEMA = 'public';
/** Table in which the migrator records the names of the migrations that have run. */
const RECORD = `${SCHEMA}.mikro_orm_migrations`;
/** A name that no other schema has. The schema is never committed. */
const scratchSchema = () => `baseline_${randomBytes(8).toString('hex')}`;

/**
 * The migrator reads its record in `public`, but creates it, like the tables, in the first schema of the search path. If that is another
 * schema, the first start would succeed and take payments, and every later start would fail. @throws UnknownSchema
 */
async function requirePublic(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ schema: string | null }>('select current_schema() as schema');
  const schema = rows[0]?.schema ?? null;
  if (schema === SCHEMA) return;
  const found = schema === null ? 'no schema that is there' : `schema ${schema}`;
  throw new UnknownSchema(
    `has ${found} first in the user's search_path, and a second start would look for its tables in ${SCHEMA}: let it begin with ${SCHEMA}; nothing was changed`,
  );
}

/**
 * Records a baseline in place of the migrations that it replaces, after checking that the database is as the baseline would make it. If it
 * is not, nothing is written.
 */
async function stampBaselines(client: pg.Client, migrations: readonly MigrationClass[]): Promise<void> {
  const { baselines, others } = dueBaselines(migrations, await recordOf(client));
  await requireUnmade(client, others);
  if (baselines.length === 0) return;
  const replaced = baselines.flatMap(({ replaces }) => replaces ?? []);
  await client.query('begin');
  try {
    await requireSame(client, baselines);
    await client.query(`delete from ${RECORD} where name = any($1)`, [replaced]);
    await client.query(`insert into ${RECORD} (name) select unnest($1::text[])`, [baselines.map(({ name }) => name)]);
    await client.query('commit');
  } catch (error) {
    await client.query('rollback').catch(() => {});
    throw error;
  }
}

/** Names of the migrations that have run. */
async function recordOf(client: pg.Client): Promise<ReadonlySet<string>> {
  const { rows: record } = await client.query('select to_regclass($1) as oid', [RECORD]);
  if (record[0]?.oid === null) return new Set();
  const { rows } = await client.query<{ name: string }>(`select name from ${RECORD}`);
  return new Set(rows.map(({ name }) => name));
}

async function isBehind(client: pg.Client, migrations: readonly MigrationClass[]): Promise<boolean> {
  const recorded = await recordOf(client);
  return migrations.some(({ name }) => !recorded.has(name));
}

interface DueBaselines {
  /** Baselines to record: all migrations that they replace have run. */
  readonly baselines: readonly MigrationClass[];
  /** Baselines to run: none of the migrations that they replace has run. The database is empty, or the feature is new to it. */
  readonly others: readonly MigrationClass[];
}

/**
 * @throws UnknownSchema if only a part of the migrations that a baseline replaces has run, or only migrations that this version does not
 * know
 */
function dueBaselines(migrations: readonly MigrationClass[], recorded: ReadonlySet<string>): DueBaselines {
  const due = migrations.flatMap(baseline => {
    const { name, replaces = [] } = baseline;
    if (replaces.length === 0 || recorded.has(name)) return [];
    return [{ baseline, replaces, lacking: replaces.filter(it => !recorded.has(it)) }];
  });
  const begun = due.filter(({ replaces, lacking }) => lacking.length < replaces.length);
  const known = begun.length > 0 || migrations.some(({ name }) => recorded.has(name));
  if (begun.every(({ lacking }) => lacking.length === 0) && (known || recorded.size === 0))
    return {
      baselines: begun.map(({ baseline }) => baseline),
      others: due.filter(it => !begun.includes(it)).map(({ baseline }) => baseline),
    };
  const lacking = due.flatMap(it => it.lacking);
  throw new UnknownSchema(
    `was made by an earlier version, and has not run ${namesOf(lacking)}: start the last version that runs ${lacking.length === 1 ? 'it' : 'them'} on it once, and this one then; nothing was changed`,
  );
}

/**
 * Refuses a database that already has tables of a baseline that is to run, because a part of its record of migrations was lost. The
 * baseline would fail at every start. By then other baselines would be recorded, which no earlier version knows. @throws UnknownSchema
 */
async function requireUnmade(client: pg.Client, baselines: readonly MigrationClass[]): Promise<void> {
  const made = baselines.flatMap(baseline => new baseline().tables());
  if (made.length === 0) return;
  const { rows } = await client.query<{ name: string }>(
    `select relname as name from pg_class where relnamespace = '${SCHEMA}'::regnamespace and relname = any($1) order by relname`,
    [made],
  );
  if (rows.length === 0) return;
  const [noun, them] = rows.length === 1 ? ['table', 'it'] : ['tables', 'them'];
  throw new UnknownSchema(
    `has the ${noun} ${namesOf(rows.map(({ name }) => name))}, and no row of ${RECORD} says what made ${them}: restore its rows, or let this service have a database of its own; nothing was changed`,
  );
}

const NAMED_MAX = 4;

/** Lists the first names, followed by the number of the others. */
function namesOf(names: readonly string[]): string {
  if (names.length <= NAMED_MAX) return names.join(', ');
  return `${names.slice(0, NAMED_MAX).join(', ')} and ${names.length - NAMED_MAX} more`;
}

/**
 * Compares the database with a scratch schema on the same server, because versions of Postgres print the same definition differently.
 * @throws UnknownSchema
 */
async function requireSame(client: pg.Client, baselines: readonly MigrationClass[]): Promise<void> {
  const scratch = scratchSchema();
  const found = await catalogueOf(client, SCHEMA);
  // The usual schemas stay in the search path, so that objects outside our tables, such as an operator class of an extension, are found and
  // printed the same. Seeds are left out, because a seed might read all rows of the real tables while other processes wait to start.
  await client.query(`savepoint before_scratch; create schema ${scratch};
    select set_config('search_path', '${scratch}, ' || current_setting('search_path'), true)`);
  await client.query(baselines.flatMap(baseline => new baseline().definitions()).join(';\n'));
  const wanted = await catalogueOf(client, scratch);
  await client.query('rollback to savepoint before_scratch');
  const optional = baselines.flatMap(baseline => baseline.optional ?? []);
  const differences = differencesOf(found, wanted, optional);
  if (differences.length === 0) return;
  throw new UnknownSchema(
    `was made by an earlier version, and is not as that left it (${differences.join(', ')}): make it so again, or restore it; nothing was changed`,
  );
}
