import type { Database } from '../../database.ts';

/** Maximum number of rows per statement, because one statement for all rows would hold its locks for a long time. */
const ROWS_MAX = 5_000;

/**
 * Deletes stored uses of proofs, recover signatures and nonces of acts that would be refused because of their age. Every process does
 * this, and each row is deleted by one of them.
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
