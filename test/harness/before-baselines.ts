import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { inject } from 'vitest';
import type { TreeHeadFacts } from '../../subgraphs/receipt/log/tree-head.ts';
import { createDatabase, databaseUrl, onCluster } from './global.ts';
import { atEnd } from './release.ts';

/*
 * SQL dump of a database of the last version that had 78 migrations in place of the baselines: its schema and every row. It holds a
 * registration, a chat paid by a registered wallet and shown twice, a chat paid by an unknown wallet, two chats by API key (one on a book,
 * one under an Idempotency-Key), a post that cites the first chat, a dispute of that chat, and a refusal because of an exhausted budget.
 */

const FIXTURES = join(import.meta.dirname, 'fixtures');

interface KnownSchema {
  /** Settings of that version on which its data depends. */
  readonly settings: Readonly<Record<'ISSUER_KEYS' | 'SEAL_KEY' | 'BASE_URL' | 'PAY_TO_BASE', string>>;
  readonly agent: { readonly agent_id: number; readonly session: string };
  /** Content of log-head.json in that version's DATA_DIR. */
  readonly log_head: TreeHeadFacts & { readonly jws: string };
  /** Content of book-heads.jsonl in that version's DATA_DIR. */
  readonly book_heads: string;
  /** SHA-256 of that version's answers by path. That version ran with a new chain. */
  readonly served: Readonly<Record<string, string>>;
}

export async function knownBeforeBaselines(): Promise<KnownSchema> {
  return JSON.parse(await readFile(join(FIXTURES, 'before-baselines.json'), 'utf8')) as KnownSchema;
}

/** Restores that database under a new name. It is dropped after the file's last test. */
export async function databaseBeforeBaselines(): Promise<string> {
  const url = await emptyDatabase();
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(await readFile(join(FIXTURES, 'before-baselines.sql'), 'utf8'));
  } finally {
    await client.end();
  }
  return url;
}

/** Creates an empty database. It is dropped after the file's last test. */
export async function emptyDatabase(): Promise<string> {
  const cluster_url = inject('cluster_url');
  const name = `t_${randomBytes(8).toString('hex')}`;
  await createDatabase(cluster_url, name);
  atEnd(() => onCluster(cluster_url, `drop database if exists ${name} with (force)`));
  return databaseUrl(cluster_url, name);
}
