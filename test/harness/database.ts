import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { inject } from 'vitest';
import type { Tx } from '../../subgraphs/database.ts';
import { mark } from '../cost/marks.ts';
import { administer, createDatabase, databaseUrl, TEMPLATE } from './global.ts';
import { atEnd } from './release.ts';

export interface FreshDatabase {
  readonly url: string;
  /** Also happens by itself after the file's last test. */
  drop(): Promise<void>;
}

/** A transaction that a test opens and ends itself, as the code under test takes one. */
export function txOf(client: pg.Client): Tx {
  return { query: client.query.bind(client), write: statement => void client.query(statement) };
}

/** A database of one's own, migrated: a copy of the template. */
export async function freshDatabase(): Promise<FreshDatabase> {
  const cluster_url = inject('cluster_url');
  const name = `t_${randomBytes(8).toString('hex')}`;
  mark('database', name);
  await createDatabase(cluster_url, name, TEMPLATE);
  const drop = () => administer(cluster_url, `drop database if exists ${name} with (force)`);
  atEnd(drop);
  return { url: databaseUrl(cluster_url, name), drop };
}

/** The one value that a statement brings, by a connection of its own. */
export async function valueAt(url: string, text: string): Promise<unknown> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<Record<string, unknown>>(text);
    return Object.values(rows[0] ?? {})[0];
  } finally {
    await client.end();
  }
}
