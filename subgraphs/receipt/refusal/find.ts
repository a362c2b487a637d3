import { asEntity, selectList } from '../../columns.ts';
import type { Database } from '../../database.ts';
import { recordDamaged } from '../damaged-record.ts';
import { refusalFault } from './intact.ts';
import { SignedRefusal } from './refusal.entity.ts';

/** One prepared statement; null where there is none. @throws Refusal record_damaged where it is not as it was signed */
export async function refusalById(database: Database, refusal_id: string): Promise<SignedRefusal | null> {
  const text = `select ${selectList(SignedRefusal)} from refusal where refusal_id = $1`;
  const [row] = await database.query({ name: 'refusal by id', text, values: [refusal_id] });
  if (!row) return null;
  const refusal = asEntity(SignedRefusal, row);
  const column = refusalFault(refusal);
  if (column !== null) throw recordDamaged(database, { record: 'refusal', id: refusal_id, column });
  return refusal;
}
