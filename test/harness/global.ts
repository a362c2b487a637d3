import pg from 'pg';
import type { TestProject } from 'vitest/node';
import { startPostgres } from '../../gateway/development/postgres/start.ts';
import { contracts } from './contracts.ts';
import { idle_ms } from './idle.ts';
import { clearScratch, clearShared, makeScratch, memoryFolder, sweepScratch } from './scratch.ts';
import { prepareTemplate } from './template.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** URL of the cluster that this run uses. Each test file creates its databases in it. */
    readonly cluster_url: string;
    /** Folder of this run. If the run is killed, its keeper ends the processes that it left. */
    readonly run_folder: string;
  }
}

export const TEMPLATE = 'svc_template';

let folder: string | undefined;

/**
 * Settings that save time. Durability is needed only after a power cut, and tests that end Postgres start their own cluster. A password
 * costs each of some thousand connections as many rounds of hashing as its role says, by default 4,096. No table grows so large that
 * compiled queries or a vacuum would save time.
 */
const SETTINGS = [
  'fsync = off',
  'full_page_writes = off',
  'synchronous_commit = off',
  'scram_iterations = 1',
  'jit = off',
  'autovacuum = off',
] as const;

/** Starts one real Postgres for the whole run, with the template that `freshDatabase` copies. */
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

/**
 * Creates a database. A template is copied as files, which takes a quarter of the time of a copy by pages in the log (PostgreSQL manual,
 * CREATE DATABASE).
 */
export async function createDatabase(cluster_url: string, name: string, template?: string): Promise<void> {
  await onCluster(cluster_url, `create database ${name}${template ? ` template ${template} strategy file_copy` : ''}`);
}

/** Sessions of this process by the URL of their cluster. */
const sessions = new Map<string, pg.Pool>();

/** Runs one statement about databases of a cluster in a pooled session, because most statements take less time than opening a session. */
export async function onCluster(cluster_url: string, statement: string): Promise<void> {
  const pool = sessions.get(cluster_url) ?? openSessions(cluster_url);
  await pool.query(statement);
}

/** Runs one statement in a new session, outside of a transaction. */
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
  // The cluster may end before its last worker, which would then get an error on an idle session.
  pool.on('error', () => {});
  sessions.set(cluster_url, pool);
  return pool;
}
