import type { AgentId } from '../../../schema/ids.ts';
import { asEntity, selectList } from '../../columns.ts';
import type { Database } from '../../database.ts';
import { StoredReconciliation } from './reconciliation.entity.ts';

/** Reads a reconciliation of a book by id. Null if the book has none with this id. */
export async function reconciliationOf(
  { query }: Database,
  agent_id: AgentId,
  report_id: string,
): Promise<StoredReconciliation | null> {
  const [found] = await query({
    name: 'reconciliation of book',
    text: `select ${selectList(StoredReconciliation)} from reconciliation where agent_id = $1 and report_id = $2`,
    values: [agent_id, report_id],
  });
  return found ? asEntity(StoredReconciliation, found) : null;
}

/** Reads a reconciliation by id, for its job. Null if it does not exist. */
export async function reconciliationById(
  { query }: Pick<Database, 'query'>,
  report_id: string,
): Promise<StoredReconciliation | null> {
  const [found] = await query({
    name: 'reconciliation',
    text: `select ${selectList(StoredReconciliation)} from reconciliation where report_id = $1`,
    values: [report_id],
  });
  return found ? asEntity(StoredReconciliation, found) : null;
}
