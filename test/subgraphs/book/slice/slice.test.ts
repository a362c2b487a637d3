import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { agentId } from '../../../../schema/ids.ts';
import { outsideOf, type Slice } from '../../../../schema/slice.ts';
import { rowsOf } from '../../../../subgraphs/book/page/page.ts';
import { sliceScope } from '../../../../subgraphs/book/slice/slice.resolver.ts';
import type { Database } from '../../../../subgraphs/database.ts';
import { insertRowsAt } from '../../../harness/ledger/dated-rows.ts';
import { withBooks } from '../../../harness/ledger/fixture.ts';
import { freshStore } from '../../../harness/store.ts';

const BOOK = 7;
const ROWS = 60;
const START_MS = Date.parse('2026-03-01T22:00:00.000Z');
/** Times past midnight. The time of every seventh row is before that of the row ahead of it. */
const timeOf = (seq: number) => START_MS + seq * 1_200_000 - (seq % 7 === 0 ? 5_000_000 : 0);
const rows = Array.from({ length: ROWS }, (_, index) => ({
  seq: index + 1,
  task_id: `task_${BOOK}_${index + 1}`,
  at_ms: timeOf(index + 1),
}));

let database: Database;
beforeAll(async () => {
  database = await freshStore();
  await withBooks(database, BOOK, 8);
  for (const book of [BOOK, 8])
    await insertRowsAt(
      database,
      book,
      rows.map(({ at_ms, seq }) => ({ at: new Date(at_ms).toISOString(), transfer_index: book * 1000 + seq })),
    );
});

const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: null, freq: 2 });
/** Times that are equal to that of a row, or one millisecond before or after it. */
const moments = fc
  .tuple(fc.integer({ min: -2, max: ROWS + 2 }), fc.constantFrom(0, 1, -1))
  .map(([seq, ms]) => new Date(timeOf(seq) + ms).toISOString());
const tasks = fc.uniqueArray(fc.integer({ min: 1, max: ROWS + 5 }), { minLength: 1, maxLength: 30 });
const slices: fc.Arbitrary<Slice> = fc.record({
  from_date: maybe(moments),
  to_date: maybe(moments),
  task_ids: maybe(tasks.map(seqs => seqs.flatMap(seq => [`task_${BOOK}_${seq}`, `task_8_${seq}`]))),
  limit: maybe(fc.integer({ min: 1, max: 70 })),
});

/** The rows of a slice, decided row by row by the definition of a slice. */
function naively({ from_date, to_date, task_ids, limit }: Slice): number[] {
  const within = rows.filter(
    ({ at_ms, task_id }) =>
      (from_date === null || at_ms >= new Date(from_date).getTime()) &&
      (to_date === null || at_ms < new Date(to_date).getTime()) &&
      (task_ids === null || task_ids.includes(task_id)),
  );
  const newest = within.map(({ seq }) => seq).reverse();
  return limit === null ? newest : newest.slice(0, limit);
}

describe('the rows of a slice', () => {
  it('are those that its words name, page by page, each once', async () => {
    await fc.assert(
      fc.asyncProperty(slices, fc.integer({ min: 1, max: 60 }), async (slice, limit) => {
        const page = async (before: number | null) =>
          (await rowsOf(database, sliceScope({ agent_id: agentId(BOOK), slice }, { limit, before }))).map(it => it.seq);
        const found: number[] = [];
        for (let seqs = await page(null); seqs.length > 0; seqs = await page(seqs.at(-1) ?? 0)) {
          expect(seqs.length).toBeLessThanOrEqual(limit);
          found.push(...seqs);
        }
        expect(found).toEqual(naively(slice));
      }),
      { numRuns: 60 },
    );
  });

  it('are those that may be recorded by its token, where no limit counts them', () => {
    fc.assert(
      fc.property(slices, slice => {
        const unbounded = { ...slice, limit: null };
        const within = rows.filter(row => outsideOf(slice, row) === null).map(({ seq }) => seq);
        expect(within.reverse()).toEqual(naively(unbounded));
      }),
    );
  });
});
