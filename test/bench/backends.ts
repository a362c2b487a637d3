import { readFile } from 'node:fs/promises';
import pg from 'pg';

/**
 * Microseconds of user and system CPU that Postgres has spent on the open connections of a database. A pool keeps its connections as long
 * as there is work. The kernel counts them, and only on Linux.
 */
export async function openBackendCpu(
  database_url: string,
  closing: AsyncDisposableStack,
): Promise<() => Promise<number>> {
  const client = new pg.Client({ connectionString: database_url });
  await client.connect();
  closing.defer(() => client.end());
  return async () => {
    const { rows } = await client.query<{ pid: number }>(
      `select pid from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()
        and backend_type = 'client backend'`,
    );
    const spent_ns = await Promise.all(rows.map(({ pid }) => readFile(`/proc/${pid}/schedstat`, 'utf8')));
    return spent_ns.reduce((sum, text) => sum + Number(text.split(' ')[0]) / 1_000, 0);
  };
}
