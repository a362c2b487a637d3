import { beforeAll, expect, it } from 'vitest';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { inflowLimits } from '../../schema/inflow-limits.ts';
import { inflowDoorsOf } from '../harness/doors/inflows.ts';
import { type Service, sharedService } from '../harness/doors/open-service.ts';

let service: Service;
beforeAll(async () => {
  service = await sharedService();
});
const { record, correct, entries, gaps } = inflowDoorsOf(() => service);

it('a row shows the newest of its corrections, of so many bytes together, however much is written into them', async () => {
  const agent = await service.newAgent();
  const { body: inflow } = await record(agent, { allocation: '1' });
  const task_id = inflow.task_id ?? '';
  const note = '\u4e00'.repeat(1_300);
  const sent = Array.from({ length: 12 }, (_, at) => ({
    task_id,
    reason: note.slice(0, 500),
    correction: { at, note },
  }));
  for (const correction of sent) expect((await correct(agent, correction)).status).toBe(200);
  const shown = (await entries(agent)).find(row => row.task_id === task_id)?.inflow_corrections ?? [];
  expect(shown.map(it => (it.inflow_claim as JsonObject).correction)).toEqual(
    sent.slice(-shown.length).map(({ correction }) => correction),
  );
  expect(shown.length).toBeGreaterThan(0);
  expect(Buffer.byteLength(JSON.stringify(shown))).toBeLessThan(1.5 * inflowLimits.corrections_shown_bytes_max);
  expect((await gaps(agent, `?task_id=${task_id}`)).body.supersession).toMatchObject({ corrections: sent.length });
});
