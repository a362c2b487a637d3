import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { commandOf, markOf, type ProcessMark } from '../../operations/process-identity.ts';

/** The server that owns a cluster folder, as its own `postmaster.pid` names it. */
export interface Postmaster {
  readonly mark: ProcessMark;
  readonly port: number;
  readonly status: string;
}

/**
 * null: no server runs on this cluster. A pid file of a dead server stays, Postgres looks into it itself; one whose
 * pid now belongs to somebody else is removed, since Postgres would take that process for a rival.
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

/** Whether the server behind a port answers, and is the one of this cluster and no other. */
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
