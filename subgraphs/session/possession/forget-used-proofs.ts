import type { Database } from '../../database.ts';

/** Rows per statement, because one delete of everything would hold its locks for long. */
const ROWS_MAX = 5_000;

/**
 * Deletes uses that would be refused by their age anyway: proofs, recover signatures, and nonces of acts. Every process does so,
 * each row by one of them.
 */
export async function forgetUsedProofs(database: Database): Promise<void> {
  for (const { table, key } of [
    { table: 'proof_use', key: 'agent_id, digest' },
    { table: 'signature_use', key: 'request_hash' },
    { table: 'act_use', key: 'delegation_hash, nonce' },
  ]) {
    await forgetRows(database, table, key);
  }
}

async function forgetRows(database: Database, table: string, key: string): Promise<void> {
  for (;;) {
    const forgotten = await database.query({
      name: `forget ${table}`,
      text: `delete from ${table} where (${key}) in (
          select ${key} from ${table} where forget_at < now() order by forget_at limit $1 for update skip locked)
        returning 1`,
      values: [ROWS_MAX],
    });
    if (forgotten.length < ROWS_MAX) return;
  }
}
