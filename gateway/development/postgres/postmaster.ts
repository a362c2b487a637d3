import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { commandOf, markOf, type ProcessMark } from '../../operations/process-identity.ts';

/** The server of a cluster folder, according to its `postmaster.pid`. */
export interface Postmaster {
  readonly mark: ProcessMark;
  readonly port: number;
  readonly status: string;
}

/**
 * Finds the server of a cluster; null if none runs. The pid file of a server that has ended is left, because Postgres checks it
 * itself. It is removed if its pid now belongs to another process, because Postgres would take that process for a server.
 */
export async function findPostmaster(cluster: string): Promise<Postmaster | null> {
  const path = join(cluster, 'postmaster.pid');
  const lines = (await readFile(path, 'utf8').catch(() => '')).split('\n');
  const mark = markOf(Number(lines[0]));
  if (!mark) return null;
  const command = commandOf(mark.pid);
  if (command !== null && !command.includes(cluster)) {
    await rm(path, { force: true });
    return null;
  }
  return { mark, port: Number(lines[3]), status: (lines[7] ?? '').trim() };
}

export function urlOf(port: number, password: string): string {
  return `postgresql://svc:${password}@127.0.0.1:${port}/postgres`;
}

/** Whether the server on a port responds and belongs to this cluster. */
export async function serves(cluster: string, url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5_000 });
  client.on('error', () => {});
  try {
    await client.connect();
    const { rows } = await client.query<{ data_directory: string }>('show data_directory');
    return rows[0]?.data_directory === cluster;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => {});
  }
}
