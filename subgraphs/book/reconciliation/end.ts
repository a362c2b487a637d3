import type { JsonObject } from '../../../schema/canonical-json.ts';
import { reconciliationLimits } from '../../../schema/limits.ts';
import type { ReconciliationFault } from '../../../schema/reconciliation.ts';
import type { Database, Tx } from '../../database.ts';
import type { BookContext } from '../context.ts';
import { signedReconciliation } from './document.ts';
import type { StoredReconciliation } from './reconciliation.entity.ts';

type Store = Pick<Database, 'query' | 'transaction'>;

/** Ends a report: signs the result of all pages, and moves the listed transfers into the document. */
export async function finish(
  database: Store,
  signing: Pick<BookContext, 'issuer' | 'profile'>,
  report: StoredReconciliation,
  { final }: { readonly final: boolean },
): Promise<void> {
  await database.transaction(async tx => {
    const { rows } = await tx.query<{ now_ms: number }>({
      name: 'lock reconciliation',
      text: `select floor(extract(epoch from clock_timestamp()) * 1000)::int8 as now_ms from reconciliation
        where report_id = $1 and state = 'running' and next_block = $2 for update`,
      values: [report.reportId, report.nextBlock],
    });
    const [held] = rows;
    if (!held) return;
    const entries = await entriesOf(tx, report);
    const document = signedReconciliation(signing, { report, entries, final, now_ms: held.now_ms });
    tx.write({
      name: 'finish reconciliation',
      text: `update reconciliation set state = 'done', document = $2, ended_at = to_timestamp($3 / 1000.0) where report_id = $1`,
      values: [report.reportId, document, held.now_ms],
    });
    dropEntries(tx, report);
  });
}

async function entriesOf(tx: Tx, { reportId }: StoredReconciliation): Promise<JsonObject[]> {
  const { rows } = await tx.query<{ entry: JsonObject }>({
    name: 'transfers of reconciliation',
    text: 'select entry from reconciliation_transfer where report_id = $1 order by place',
    values: [reportId],
  });
  return rows.map(({ entry }) => entry);
}

/** Ends a report as failed, with a reason. */
export async function failReconciliation(
  database: Store,
  report: StoredReconciliation,
  reason: ReconciliationFault,
): Promise<void> {
  await failWhere(database, report, reason, 0);
}

/** Fails a report that has waited too long, by the clock of the database. Returns whether it keeps waiting. */
export async function continueWaiting(
  database: Store,
  report: StoredReconciliation,
  reason: ReconciliationFault,
): Promise<boolean> {
  return !(await failWhere(database, report, reason, reconciliationLimits.waits_seconds_max));
}

/** Fails a report that has made no progress for `seconds`. Returns whether the report failed. */
function failWhere(
  database: Store,
  report: StoredReconciliation,
  reason: ReconciliationFault,
  seconds: number,
): Promise<boolean> {
  return database.transaction(async tx => {
    const { rowCount } = await tx.query({
      name: 'fail reconciliation',
      text: `update reconciliation set state = 'failed', reason = $2, ended_at = clock_timestamp()
        where report_id = $1 and state = 'running' and moved_at <= clock_timestamp() - make_interval(secs => $3)`,
      values: [report.reportId, reason, seconds],
    });
    if (rowCount === 1) dropEntries(tx, report);
    return rowCount === 1;
  });
}

function dropEntries(tx: Tx, { reportId }: StoredReconciliation): void {
  tx.write({
    name: 'drop transfers of reconciliation',
    text: 'delete from reconciliation_transfer where report_id = $1',
    values: [reportId],
  });
}
