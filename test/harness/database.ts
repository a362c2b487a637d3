import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { inject } from 'vitest';
import type { Tx } from '../../subgraphs/database.ts';
import { mark } from '../cost/marks.ts';
import { administer, createDatabase, databaseUrl, onCluster, TEMPLATE } from './global.ts';
import { atEnd } from './release.ts';

interface DatabaseOptions {
  /** Whether the database's clock must not pass a full hour while a file runs. */
  readonly mid_hour?: boolean;
}

export interface FreshDatabase {
  readonly url: string;
  /** Drops the database. It is also called after the file's last test. */
  drop(): Promise<void>;
}

/** The transaction type of the code under test, on a transaction that a test opens and ends itself. */
export function txOf(client: pg.Client): Tx {
  return { query: client.query.bind(client), write: statement => void client.query(statement) };
}

/** A migrated database that only this file uses, copied from the template. */
export async function freshDatabase({ mid_hour = false }: DatabaseOptions = {}): Promise<FreshDatabase> {
  const cluster_url = inject('cluster_url');
  const name = `t_${randomBytes(8).toString('hex')}`;
  mark('database', name);
  await createDatabase(cluster_url, name, TEMPLATE);
  const drop = () => onCluster(cluster_url, `drop database if exists ${name} with (force)`);
  atEnd(drop);
  const url = databaseUrl(cluster_url, name);
  if (mid_hour) await keepFromFullHour(url, name);
  return { url, drop };
}

const MINUTE_MS = 60_000;
/** Longer than the slowest file runs on a busy machine. */
const HOUR_LEFT_MS_MIN = 25 * MINUTE_MS;
const SET_BACK_MINUTES = 30;

/**
 * Payments and refusals are counted by the hour of the database's clock, so a count would start again at a full hour. Late in an hour the
 * clock is therefore set back, though not into the hour before. Its functions are replaced in `public`, where the search path finds
 * unqualified names first.
 */
async function keepFromFullHour(url: string, name: string): Promise<void> {
  if (60 * MINUTE_MS - (Date.now() % (60 * MINUTE_MS)) >= HOUR_LEFT_MS_MIN) return;
  const clocks = {
    now: 'stable',
    transaction_timestamp: 'stable',
    statement_timestamp: 'stable',
    clock_timestamp: 'volatile',
  };
  const set_back = Object.entries(clocks).map(
    ([clock, volatility]) =>
      `create function public.${clock}() returns timestamptz language sql ${volatility}
        return pg_catalog.${clock}() - interval '${SET_BACK_MINUTES} minutes'`,
  );
  await administer(url, [...set_back, `alter database ${name} set search_path = public, pg_catalog`].join('; '));
}

/** The single value that a statement returns, over a new connection. */
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
