import type { JsonObject } from '../../../schema/canonical-json.ts';
import { Refusal } from '../../../schema/errors.ts';
import { agentId } from '../../../schema/ids.ts';
import { sessionLimits } from '../../../schema/limits.ts';
import { csvOf } from '../../book/export/csv.ts';
import { readingOf, rowsOfTasks } from '../../book/export/read.ts';
import { receiptDocument } from '../../receipt/receipt/document.ts';
import { receiptsByTask } from '../../receipt/receipt/find.ts';
import type { SessionContext } from '../context.ts';
import { ownCall, ownRows, receiptNamed } from './own-call.ts';
import { requireStillActive, type SignedAct, takeAct } from './take-act.ts';
import { detailOf } from './tree.ts';
import type { SessionNode } from './tree.type.ts';

/** Reads the session itself, or purchases under it and the sessions below it. Nothing else of any book is returned. @throws not_found */
export async function readPrivate(act: SignedAct, context: SessionContext) {
  const { session, request, time } = act;
  const task_id = receiptNamed(request.resource);
  const known = task_id === null ? resources.has(request.resource) : await ownCall(context.database, session, task_id);
  if (!known) throw new Refusal('not_found');
  await context.database.transaction(async tx => {
    await takeAct(tx, session, time);
    await requireStillActive(tx, session);
  });
  if (task_id !== null) return { read: await receiptOf(task_id, context) };
  if (request.resource === OWN_SESSION) return { read: sessionDocument(await detailOf(session, context)) };
  const { rows, next } = await rowsOf(act, context);
  const shown: JsonObject =
    request.resource === 'book' ? { entries: [...rows] } : { format: 'csv', document: csvOf(rows) };
  return { read: { ...shown, truncated: next !== null, next } };
}

/** Resource that names the session itself, with its limits and spending. */
const OWN_SESSION = 'session';
const resources: ReadonlySet<string> = new Set(['book', 'book/export', OWN_SESSION]);

/** A session as GET /v1/sessions/{delegation_hash} shows it to the payer. */
function sessionDocument(node: SessionNode): JsonObject {
  const { delegationHash, status, payer, agentPubkey, validAfter, sessionExpiry, parentDelegationHash, path } = node;
  const { capAtomic, spentAtomic, heldAtomic, remainingAtomic, models, doors } = node;
  return {
    delegation_hash: delegationHash,
    status,
    payer,
    agent_pubkey: agentPubkey,
    valid_after: validAfter,
    session_expiry: sessionExpiry,
    parent_delegation_hash: parentDelegationHash,
    path,
    detail: {
      cap: capAtomic.toString(),
      spent: spentAtomic.toString(),
      held: heldAtomic.toString(),
      remaining: remainingAtomic.toString(),
      models,
      doors,
    },
  };
}

async function receiptOf(task_id: string, { database, base_url, profile }: SessionContext): Promise<JsonObject> {
  const [receipt] = await receiptsByTask(database, [task_id]);
  if (!receipt) throw new Refusal('not_found');
  return receiptDocument(receipt, base_url, profile);
}

interface OwnRows {
  readonly rows: readonly JsonObject[];
  /** Value of `before` for the next page. Null if this page is the last. */
  readonly next: string | null;
}

/** Rows of these sessions as an export shows them, newest first, from all books that have such rows. */
async function rowsOf({ session, request }: SignedAct, { database, base_url }: SessionContext): Promise<OwnRows> {
  const { limit = sessionLimits.act_rows_default, before = null } = request.payload ?? {};
  const found = await ownRows(database, session, { limit: limit + 1, before });
  const calls = found.slice(0, limit);
  const rows: JsonObject[] = [];
  for (const [agent_id, of_book] of Map.groupBy(calls, call => call.agent_id)) {
    const task_ids = of_book.map(({ task_id }) => task_id);
    rows.push(...(await rowsOfTasks(readingOf(database), agentId(agent_id), task_ids, base_url)));
  }
  return {
    rows: rows.toSorted((a, b) => (String(a.task_id) < String(b.task_id) ? 1 : -1)),
    next: found.length > limit ? (calls.at(-1)?.task_id ?? null) : null,
  };
}
