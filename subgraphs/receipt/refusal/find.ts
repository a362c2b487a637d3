import { asEntity, selectList } from '../../columns.ts';
import type { Database } from '../../database.ts';
import { SignedRefusal } from './refusal.entity.ts';

/** One prepared statement; null where there is none. */
export async function refusalById(database: Database, refusal_id: string): Promise<SignedRefusal | null> {
  const text = `select ${selectList(database.orm, SignedRefusal)} from refusal where refusal_id = $1`;
  const [row] = await database.query({ name: 'refusal by id', text, values: [refusal_id] });
  return row ? asEntity(SignedRefusal, row) : null;
}
