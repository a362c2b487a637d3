import pg from 'pg';

/** Schema of graphile-worker's tables and functions, separate from ours, so that names cannot collide. */
export const JOBS_SCHEMA = 'graphile_worker';

/**
 * Number of the newest migration in the version of graphile-worker in package.json. The library is not loaded if the database has run it.
 */
export const JOBS_REVISION = 20;

/**
 * Brings the tables of jobs up to date, under the lock of our own migrations, so that only one process does it. Costs two reads if nothing
 * is due. `look`: any connection. `settings`: settings of the connection that the library uses.
 */
export async function migrateJobs(look: pg.ClientBase, settings: pg.ClientConfig): Promise<void> {
  if ((await revisionOf(look)) === JOBS_REVISION) return;
  const { runMigrations } = await import('graphile-worker');
  const pool = new pg.Pool({ ...settings, max: 1 });
  // The library requires both listeners. Without them, a lost connection would end the process.
  pool.on('error', () => {});
  pool.on('connect', client => void client.on('error', () => {}));
  try {
    await runMigrations({ pgPool: pool, schema: JOBS_SCHEMA });
  } finally {
    await pool.end();
  }
}

/** Number of the newest migration that has run. Null if none has run. */
async function revisionOf(client: pg.ClientBase): Promise<number | null> {
  const record = `${JOBS_SCHEMA}.migrations`;
  const { rows: found } = await client.query<{ there: boolean }>('select to_regclass($1) is not null as there', [
    record,
  ]);
  if (!found[0]?.there) return null;
  const { rows } = await client.query<{ revision: number | null }>(`select max(id)::int as revision from ${record}`);
  return rows[0]?.revision ?? null;
}
