import type { JsonObject } from '../../../schema/canonical-json.ts';
import { Refusal } from '../../../schema/errors.ts';
import { agentId } from '../../../schema/ids.ts';
import { sessionLimits } from '../../../schema/session/session-limits.ts';
import { csvOf } from '../../book/export/csv.ts';
import { readingOf, rowsOfTasks } from '../../book/export/read.ts';
import { receiptDocument } from '../../receipt/receipt/document.ts';
import { receiptsByTask } from '../../receipt/receipt/find.ts';
import type { SessionContext } from '../context.ts';
import { ownCall, ownRows, receiptNamed } from './own-call.ts';
import type { SignedAct } from './signed-act.ts';
import { requireStillActive, takeAct } from './take-act.ts';

/** Shows the session's key what was bought under it and below it, and nothing else of any book. @throws not_found */
export async function readPrivate(act: SignedAct, context: SessionContext) {
  const { session, request, time } = act;
  const task_id = receiptNamed(request.resource);
  const known = task_id === null ? books.has(request.resource) : await ownCall(context.database, session, task_id);
  if (!known) throw new Refusal('not_found');
  await context.database.transaction(async tx => {
    await takeAct(tx, session, time);
    await requireStillActive(tx, session);
  });
  if (task_id !== null) return { read: await receiptOf(task_id, context) };
  const rows = await rowsOf(act, context);
  return { read: request.resource === 'book' ? { entries: rows } : { format: 'csv', document: csvOf(rows) } };
}

const books: ReadonlySet<string> = new Set(['book', 'book/export']);

async function receiptOf(task_id: string, { database, base_url, profile }: SessionContext): Promise<JsonObject> {
  const [receipt] = await receiptsByTask(database, [task_id]);
  if (!receipt) throw new Refusal('not_found');
  return receiptDocument(receipt, base_url, profile);
}

/** As an export shows them, the newest first; of each book that children have paid from. */
async function rowsOf({ session, request }: SignedAct, { database, base_url }: SessionContext): Promise<JsonObject[]> {
  const asked = typeof request.payload?.limit === 'number' ? request.payload.limit : sessionLimits.act_rows_default;
  const calls = await ownRows(database, session, Math.min(Math.max(1, asked), sessionLimits.act_rows_max));
  const books = Map.groupBy(calls, ({ agent_id }) => agent_id);
  const rows: JsonObject[] = [];
  for (const [agent_id, calls] of books) {
    const task_ids = calls.map(({ task_id }) => task_id);
    rows.push(...(await rowsOfTasks(readingOf(database), agentId(agent_id), task_ids, base_url)));
  }
  return rows.toSorted((a, b) => (String(a.task_id) < String(b.task_id) ? 1 : -1));
}
