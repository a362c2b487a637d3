import { expect, it } from 'vitest';
import { canonicalJson } from '../../../../schema/canonical-json.ts';
import { coveragePayload } from '../../../../schema/export-coverage.ts';
import { agentId } from '../../../../schema/ids.ts';
import { PullExportExtent } from '../../../../subgraphs/book/export/migration.ts';
import { scopeOf } from '../../../../subgraphs/book/export/publish.ts';
import { exportedRows, readingOf, scanUniverse } from '../../../../subgraphs/book/export/read.ts';
import { bookOf } from '../../../harness/export/book.ts';
import { freshStore } from '../../../harness/store.ts';

it('an export that was published before says of how many rows it is, as its signed coverage does', async () => {
  const store = await freshStore();
  await store.query({ text: 'alter table pull_export drop column truncated, drop column matching_count' });
  for (const [agent, limit, scanned] of [
    [1, 2, true],
    [2, 200, true],
    [3, 200, false],
  ] as const) {
    await bookOf(store, agentId(agent), [{}, {}, {}]);
    const scope = scopeOf(agentId(agent), {}, limit);
    const universe = scanned ? await scanUniverse(readingOf(store), scope, null) : null;
    const rows = scanned ? await exportedRows(readingOf(store), scope, 'http://127.0.0.1:4000') : [];
    const coverage = coveragePayload(scope, rows, universe, null);
    await store.query({
      text: `insert into pull_export (agent_id, slug, published_at, exported_at, empty_reason, signed, csv)
        values ($1, $2, now(), now(), $3, $4, '')`,
      values: [agent, `slug-${agent}`, coverage.empty_reason, canonicalJson({ coverage })],
    });
  }
  await store.query({ text: `insert into pull_export (agent_id, slug, published_at) values (4, 'unbuilt', now())` });
  for (const text of new PullExportExtent().statements()) await store.query({ text });
  const text = 'select agent_id, truncated, matching_count from pull_export order by agent_id';
  expect(await store.query({ text })).toEqual([
    { agent_id: 1, truncated: true, matching_count: 3 },
    { agent_id: 2, truncated: false, matching_count: 3 },
    { agent_id: 3, truncated: true, matching_count: null },
    { agent_id: 4, truncated: null, matching_count: null },
  ]);
});
