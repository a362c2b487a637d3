import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { inject } from 'vitest';
import type { TreeHeadFacts } from '../../subgraphs/receipt/log/tree-head.ts';
import { createDatabase, databaseUrl, onCluster } from './global.ts';
import { atEnd } from './release.ts';

/*
 * A database as the last version left it that had 78 migrations in place of the baselines, written down as SQL: what those
 * ran, and every row. It holds a registration, a chat paid by a registered wallet and shown twice, one paid by a stranger,
 * two by API key (on a book, and under an Idempotency-Key), a post that cites the first chat, a dispute of it, and a refusal by a
 * budget that is used up.
 */

const FIXTURES = join(import.meta.dirname, 'fixtures');

interface KnownSchema {
  /** What that version ran with, as far as what it wrote depends on it. */
  readonly settings: Readonly<Record<'ISSUER_KEYS' | 'SEAL_KEY' | 'BASE_URL' | 'PAY_TO_BASE', string>>;
  readonly agent: { readonly agent_id: number; readonly session: string };
  /** Its DATA_DIR's log-head.json. */
  readonly log_head: TreeHeadFacts & { readonly jws: string };
  /** Its book-heads.jsonl. */
  readonly book_heads: string;
  /** By path, the SHA-256 of what that version answers in front of a chain that has begun anew. */
  readonly served: Readonly<Record<string, string>>;
}

export async function knownBeforeBaselines(): Promise<KnownSchema> {
  return JSON.parse(await readFile(join(FIXTURES, 'before-baselines.json'), 'utf8')) as KnownSchema;
}

/** That database, under a name of its own; dropped after the file's last test. */
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

/** One that nothing was made in yet; dropped after the file's last test. */
export async function emptyDatabase(): Promise<string> {
  const cluster_url = inject('cluster_url');
  const name = `t_${randomBytes(8).toString('hex')}`;
  await createDatabase(cluster_url, name);
  atEnd(() => onCluster(cluster_url, `drop database if exists ${name} with (force)`));
  return databaseUrl(cluster_url, name);
}
