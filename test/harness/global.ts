import pg from 'pg';
import type { TestProject } from 'vitest/node';
import { startPostgres } from '../../gateway/development/postgres/start.ts';
import { contracts } from './contracts.ts';
import { idle_ms } from './idle.ts';
import { clearScratch, clearShared, makeScratch, memoryFolder, sweepScratch } from './scratch.ts';
import { prepareTemplate } from './template.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The one cluster of this run; every test file makes databases of its own in it. */
    readonly cluster_url: string;
    /** Of this run; its keeper ends what the run leaves behind if it is cut off. */
    readonly run_folder: string;
  }
}

export const TEMPLATE = 'svc_template';

let folder: string | undefined;

/**
 * What a power cut would need, and no test of this cluster: those that end Postgres start one of their own. A password costs
 * each of some thousand connections as many rounds of hashing as its role says, by default 4,096. And nothing here grows so
 * large that machine code or a vacuum would pay.
 */
const SETTINGS = [
  'fsync = off',
  'full_page_writes = off',
  'synchronous_commit = off',
  'scram_iterations = 1',
  'jit = off',
  'autovacuum = off',
] as const;

/** One real Postgres for the whole run, and in it the template that `freshDatabase` copies. */
export async function setup(project: TestProject): Promise<void> {
  await sweepScratch();
  folder = await makeScratch(memoryFolder());
  const { url } = await startPostgres(folder, idle_ms);
  for (const setting of SETTINGS) await administer(url, `alter system set ${setting}`);
  await administer(url, 'select pg_reload_conf()');
  await administer(url, `alter role current_user password '${new URL(url).password}'`);
  await createDatabase(url, TEMPLATE);
  await prepareTemplate(databaseUrl(url, TEMPLATE));
  await contracts();
  project.provide('cluster_url', url);
  project.provide('run_folder', folder);
}

export async function teardown(): Promise<void> {
  await clearShared();
  if (folder) await clearScratch(folder);
}

export function databaseUrl(cluster_url: string, name: string): string {
  return Object.assign(new URL(cluster_url), { pathname: `/${name}` }).href;
}

/** Copied as files, which takes a quarter of what it takes by pages in the log (PostgreSQL manual, CREATE DATABASE). */
export async function createDatabase(cluster_url: string, name: string, template?: string): Promise<void> {
  await onCluster(cluster_url, `create database ${name}${template ? ` template ${template} strategy file_copy` : ''}`);
}

/** Of this process, by the URL of their cluster. */
const sessions = new Map<string, pg.Pool>();

/** One statement about databases of a cluster: a session for each of them would cost more than most of them do. */
export async function onCluster(cluster_url: string, statement: string): Promise<void> {
  const pool = sessions.get(cluster_url) ?? openSessions(cluster_url);
  await pool.query(statement);
}

/** One statement by a session of its own, outside a transaction. */
export async function administer(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}

function openSessions(cluster_url: string): pg.Pool {
  const pool = new pg.Pool({ connectionString: cluster_url, max: 2, idleTimeoutMillis: 60_000, allowExitOnIdle: true });
  // The cluster may end before the last of its workers.
  pool.on('error', () => {});
  sessions.set(cluster_url, pool);
  return pool;
}
