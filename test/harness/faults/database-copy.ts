import { randomBytes } from 'node:crypto';
import { inject } from 'vitest';
import { createDatabase, databaseUrl, onCluster } from '../global.ts';
import { atEnd } from '../release.ts';

/**
 * A copy of the database in its present state, like a restored dump. All connections to the database are ended first, because Postgres
 * copies only a database without any.
 */
export async function copyOf(source_url: string): Promise<string> {
  const cluster_url = inject('cluster_url');
  const source = new URL(source_url).pathname.slice(1);
  const name = `t_${randomBytes(8).toString('hex')}`;
  await onCluster(cluster_url, `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${source}'`);
  await createDatabase(cluster_url, name, source);
  atEnd(() => onCluster(cluster_url, `drop database if exists ${name} with (force)`));
  return databaseUrl(cluster_url, name);
}
