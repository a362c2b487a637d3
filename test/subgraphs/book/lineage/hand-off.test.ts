import { parse } from 'graphql';
import { beforeAll, expect, it } from 'vitest';
import { InProcessSource } from '../../../../gateway/graph/source.ts';
import type { Json, JsonObject } from '../../../../schema/canonical-json.ts';
import { agentId } from '../../../../schema/ids.ts';
import { jsonText } from '../../../../schema/json-text.ts';
import { cells } from '../../../../subgraphs/book/export/cells.ts';
import { bookSubgraph } from '../../../../subgraphs/book/index.ts';
import { readLineage } from '../../../../subgraphs/book/lineage/read.ts';
import type { Database } from '../../../../subgraphs/database.ts';
import type { NullOmissions } from '../../../../subgraphs/json-sql.ts';
import { prepareReceipt } from '../../../../subgraphs/receipt/receipt/issue.ts';
import { insertRowsAt } from '../../../harness/ledger/dated-rows.ts';
import { collectAll, issuer, withBooks } from '../../../harness/ledger/fixture.ts';
import { freshStore } from '../../../harness/store.ts';
import { waivedCall } from '../../../harness/vectors/receipt-facts.ts';

/* A hand-off that an earlier version redeemed, whose row therefore has no parent. */

const AGENT = agentId(7);
const GIVER = agentId(6);
const PARENT = 'task_on_another_book';
const HANDED = 'task_handed_on';
const source = new InProcessSource(await bookSubgraph());
let database: Database;
beforeAll(async () => {
  database = await freshStore();
  await withBooks(database, AGENT, GIVER);
  const prepared = prepareReceipt(issuer, {
    ...waivedCall,
    task_id: HANDED,
    hub: '',
    model: '',
    job_kind: 'other',
    waived_by: null,
    caller_binding: { agent_pubkey: '0x02' },
    session: { delegation_hash: `0x${'1'.repeat(64)}`, valid_after: 0, session_expiry: 4_000_000_000 },
    handed: { parent_receipt_id: PARENT, target_agent: AGENT },
  });
  await database.transaction(tx => collectAll(tx, [{ prepared, landing: null }]));
  const at = '2026-03-01T12:00:00.000Z';
  await insertRowsAt(database, GIVER, [{ at, task_id: PARENT }]);
  const unpaid = {
    evidence: 'UNVERIFIED',
    collected: false,
    amount: null,
    payment_ref: null,
    transfer_index: null,
  } as const;
  await insertRowsAt(database, AGENT, [
    { at, ...unpaid, task_id: HANDED, model: '', hub: '', parent_ref: null },
    // A call by key has no amount either.
    { at, ...unpaid, task_id: 'task_by_key' },
    { at, task_id: 'task_after', parent_ref: HANDED },
  ]);
});

async function entries(written?: NullOmissions): Promise<Json> {
  const document = parse(`{ answer: book(agentId: ${AGENT}) { entries { taskId parentRef } } }`);
  const possession = { kind: 'proven', agent_id: AGENT, session_hash: '', by: 'session' } as const;
  const context = { database, issuer, clock: { now_ms: () => 0 }, principal: { possession } };
  const { data, errors } = await source.execute({ document, variables: {}, context, ...(written ? { written } : {}) });
  expect(errors).toBeUndefined();
  const { answer } = JSON.parse(written ? jsonText(data) : JSON.stringify(data)) as { answer: { entries: Json } };
  return answer.entries;
}

it('shows what it follows from, in the book as in an export', async () => {
  const shown = [
    { taskId: 'task_after', parentRef: HANDED },
    { taskId: 'task_by_key', parentRef: null },
    { taskId: HANDED, parentRef: PARENT },
  ];
  expect(await entries({})).toEqual(shown);
  expect(await entries()).toEqual(shown);
  const cell = cells.find(({ name }) => name === 'parent_ref')?.sql;
  const exported = await database.query<JsonObject>({
    text: `select ${cell} as parent_ref from book_row r where agent_id = $1 order by seq`,
    values: [AGENT],
  });
  expect(exported.map(({ parent_ref }) => parent_ref)).toEqual([PARENT, null, HANDED]);
});

it('is followed up to the task on the other book, and no further', async () => {
  const page = { limit: 50, after: 0 };
  expect(await readLineage(database, AGENT, 'task_after', page)).toMatchObject({
    root: null,
    truncated: false,
    ancestors: [
      { taskId: HANDED, depth: 1, parentRef: PARENT, onOtherBook: false },
      { taskId: PARENT, depth: 2, onOtherBook: true, seq: null, collectedAt: null },
    ],
  });
  expect(await readLineage(database, AGENT, HANDED, page)).toMatchObject({
    ancestors: [{ taskId: PARENT, onOtherBook: true }],
    descendants: [{ taskId: 'task_after', onOtherBook: false }],
  });
  expect(await readLineage(database, AGENT, 'task_by_key', page)).toMatchObject({ ancestors: [], truncated: false });
  // The agent that paid for it may have no book.
  await database.query({ text: 'delete from book_row where agent_id = $1', values: [GIVER] });
  expect(await readLineage(database, AGENT, HANDED, page)).toMatchObject({
    ancestors: [{ taskId: PARENT, onOtherBook: false }],
  });
});
