import fc from 'fast-check';
import { beforeAll, expect, it } from 'vitest';
import type { JsonObject } from '../../../../schema/canonical-json.ts';
import { type AgentId, agentId } from '../../../../schema/ids.ts';
import { exportTotals } from '../../../../subgraphs/book/export/audit.ts';
import { scopeOf } from '../../../../subgraphs/book/export/publish.ts';
import { exportedRows, readingOf } from '../../../../subgraphs/book/export/read.ts';
import { arrive } from '../../../../subgraphs/book/ledger/arrive.ts';
import { anyRow, bookOf } from '../../../harness/export/book.ts';
import { collectAll, vouchedCollection, withBooks } from '../../../harness/ledger/fixture.ts';
import { freshStore } from '../../../harness/store.ts';

let store: Awaited<ReturnType<typeof freshStore>>;
let agents = 0;
beforeAll(async () => {
  store = await freshStore();
});

const rowsOf = (agent_id: AgentId): Promise<JsonObject[]> =>
  exportedRows(readingOf(store), scopeOf(agent_id, {}, null), 'http://127.0.0.1:4000');

it("totals over all rows are the book's own counters", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(anyRow, { minLength: 1, maxLength: 40 }), async rows => {
      const agent_id = agentId(++agents);
      await bookOf(store, agent_id, rows);
      const { by_rail, count, usdc_sum } = exportTotals(await rowsOf(agent_id));
      const [head] = await store.query<{ by_rail: Record<string, { count: number; amount: string }> }>({
        text: 'select by_rail from book where agent_id = $1',
        values: [agent_id],
      });
      expect(by_rail).toEqual(head?.by_rail);
      expect(usdc_sum).toBe(head?.by_rail.usdc?.amount ?? '0');
      expect(count).toBe(rows.filter(({ amount, rail }) => amount !== null && rail !== null).length);
    }),
    { numRuns: 15 },
  );
});

it('what never arrived is visible, without an amount and in no total; what was seen has its ingress receipt', async () => {
  const agent_id = agentId(++agents);
  const ingress_receipt = { ref: `base:0x${'cd'.repeat(32)}`, confirmed_at: '2026-03-01T10:30:00.000Z' };
  await withBooks(store, agent_id);
  await store.transaction(tx => collectAll(tx, [vouchedCollection(agent_id, 1), vouchedCollection(agent_id, 2)]));
  await store.transaction(tx =>
    arrive(tx, [
      { task_id: `task_${agent_id}_1`, to: 'ARRIVAL_UNVERIFIED', omission_rule: 'no_ingress_receipt_at_cutoff' },
      { task_id: `task_${agent_id}_2`, to: 'collected', ingress_receipt },
    ]),
  );
  const rows = await rowsOf(agent_id);
  expect(rows).toMatchObject([
    {
      evidence: 'ARRIVAL_UNVERIFIED',
      amount: null,
      arrival_status: 'unverified',
      omission_rule: 'no_ingress_receipt_at_cutoff',
      ingress_receipt: null,
    },
    { evidence: 'collected', amount: '2000', arrival_status: 'confirmed', ingress_receipt },
  ]);
  expect(exportTotals(rows)).toEqual({ usdc_sum: '2000', count: 1, by_rail: { usdc: { count: 1, amount: '2000' } } });
});
