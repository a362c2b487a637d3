import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { agentId } from '../../../../schema/ids.ts';
import { pageHead, rowsOf } from '../../../../subgraphs/book/page/page.ts';
import { type PageQuery, type RowFilter, rowScope } from '../../../../subgraphs/book/page/row-scope.ts';
import type { Database } from '../../../../subgraphs/database.ts';
import { insertRowsAt } from '../../../harness/ledger/dated-rows.ts';
import { withBooks } from '../../../harness/ledger/fixture.ts';
import { freshStore } from '../../../harness/store.ts';

const BOOK = 7;
const ROWS = 60;
const START_MS = Date.parse('2026-03-01T22:00:00.000Z');
/** Rows twenty minutes apart, past midnight. The time of every seventh is before that of the row ahead of it. */
const timeOf = (seq: number) => START_MS + seq * 1_200_000 - (seq % 7 === 0 ? 5_000_000 : 0);
const INTENTS = ['bill-1', 'bill-2', null] as const;

interface Fact {
  readonly seq: number;
  readonly at: number;
  readonly intentId: string | null;
  readonly evidence: 'collected' | 'UNVERIFIED';
  readonly paymentRef: string;
}
const facts: readonly Fact[] = Array.from({ length: ROWS }, (_, index) => ({
  seq: index + 1,
  at: timeOf(index + 1),
  intentId: INTENTS[index % INTENTS.length] ?? null,
  evidence: index % 5 === 0 ? 'UNVERIFIED' : 'collected',
  // Three rows share each transaction.
  paymentRef: `base:0x${Math.floor(index / 3)}`,
}));

let database: Database;
beforeAll(async () => {
  database = await freshStore();
  await withBooks(database, BOOK, 8);
  const rows = facts.map(({ seq, at, intentId, evidence, paymentRef }) => ({
    at: new Date(at).toISOString(),
    intent_id: intentId,
    evidence,
    payment_ref: paymentRef,
    transfer_index: seq,
  }));
  await insertRowsAt(database, BOOK, rows);
  // Another book with the same times and transactions, whose rows must not be found.
  await insertRowsAt(database, 8, rows);
});

const seqsOf = async (asked: PageQuery) =>
  (await rowsOf(database, rowScope(agentId(BOOK), asked))).map(({ seq }) => seq);

function expected({ filter }: PageQuery): number[] {
  const { from, to, evidence, intentId, taskId, paymentRef, seq } = filter ?? {};
  return facts
    .filter(
      row =>
        (!from || row.at >= from.getTime()) &&
        (!to || row.at < to.getTime()) &&
        (!evidence || row.evidence === evidence) &&
        (!intentId || row.intentId === intentId) &&
        (!taskId || `task_${BOOK}_${row.seq}` === taskId) &&
        (!paymentRef || row.paymentRef === paymentRef) &&
        (typeof seq !== 'number' || row.seq === seq),
    )
    .map(row => row.seq)
    .reverse();
}

const moments = fc.integer({ min: -5, max: 30 }).map(hours => new Date(START_MS + hours * 3_600_000 + 1));
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: null, freq: 2 });
const filters: fc.Arbitrary<RowFilter> = fc.record({
  from: maybe(moments),
  to: maybe(moments),
  evidence: maybe(fc.constantFrom('collected', 'UNVERIFIED', 'foreign_ingest')),
  intentId: maybe(fc.constantFrom('bill-1', 'bill-2', 'none')),
  paymentRef: fc.option(fc.constantFrom('base:0x3', 'base:0x99'), { nil: null, freq: 5 }),
});

describe('pages of a book', () => {
  it('reach every row that the filter names, down by `before` and up by `after`, each once', async () => {
    await fc.assert(
      fc.asyncProperty(filters, fc.integer({ min: 1, max: 60 }), async (filter, limit) => {
        const all = expected({ limit, filter });
        const down: number[] = [];
        for (let page = await seqsOf({ limit, filter }); page.length > 0; ) {
          expect(page.length).toBeLessThanOrEqual(limit);
          down.push(...page);
          page = await seqsOf({ limit, filter, before: page.at(-1) });
        }
        expect(down).toEqual(all);
        const up: number[] = [];
        for (let page = await seqsOf({ limit, filter, after: 0 }); page.length > 0; ) {
          up.unshift(...page);
          page = await seqsOf({ limit, filter, after: page[0] });
        }
        expect(up).toEqual(all);
      }),
      { numRuns: 40 },
    );
  });

  it('between two rows: the newest of them', async () => {
    expect(await seqsOf({ limit: 3, before: 40, after: 20 })).toEqual([39, 38, 37]);
    expect(await seqsOf({ limit: 50, before: 23, after: 20 })).toEqual([22, 21]);
  });

  it('are one row by its task or its seq, and those of a transaction by its payment_ref', async () => {
    expect(await seqsOf({ limit: 50, filter: { taskId: `task_${BOOK}_17` } })).toEqual([17]);
    expect(await seqsOf({ limit: 50, filter: { taskId: 'task_8_17' } })).toEqual([]);
    expect(await seqsOf({ limit: 50, filter: { seq: 18 } })).toEqual([18]);
    expect(await seqsOf({ limit: 50, filter: { paymentRef: 'base:0x4' } })).toEqual([15, 14, 13]);
  });
});

describe('an intent that a page names', () => {
  it('says whether it has more attempts than the newest 200', async () => {
    for (const [agent, rows] of [
      [10, 200],
      [11, 201],
    ] as const) {
      await withBooks(database, agent);
      const at = new Date(START_MS).toISOString();
      await insertRowsAt(
        database,
        agent,
        Array.from({ length: rows }, () => ({ at, intent_id: 'bill' })),
      );
      const head = await pageHead(database, rowScope(agentId(agent), { limit: 1 }), null);
      const { bill } = (head?.intents.toJSON() ?? {}) as {
        bill: { attempts: { task_id: string }[]; attempts_truncated: boolean };
      };
      expect(bill.attempts_truncated).toBe(rows > 200);
      expect(bill.attempts).toHaveLength(200);
      expect(bill.attempts.at(-1)?.task_id).toBe(`task_${agent}_${rows}`);
    }
  });
});

describe('a page at any depth', () => {
  it.each<[string, RowFilter]>([
    ['no filter', {}],
    ['evidence', { evidence: 'collected' }],
    ['intent', { intentId: 'bill-1' }],
    ['evidence and intent, each of many rows, both of few old ones', { evidence: 'UNVERIFIED', intentId: 'bill-1' }],
    ['a time that is long past', { to: new Date('2026-01-15T00:00:00Z') }],
  ])('reads as many rows as it shows, by an index: %s', async (_, filter) => {
    const agent = 9;
    await withBooks(database, agent).catch(() => {});
    const [{ count }] = (await database.query<{ count: number }>({
      text: 'select count(*)::int as count from book_row where agent_id = $1',
      values: [agent],
    })) as [{ count: number }];
    if (count === 0) await fillTwoMonths(agent);
    const { select, values } = rowScope(agentId(agent), { limit: 50, before: 2_000, filter });
    const plan = await database.query<{ 'QUERY PLAN': string }>({
      text: `explain (analyze, costs off, timing off, summary off) ${select}`,
      values: [...values],
    });
    const text = plan.map(line => line['QUERY PLAN']).join('\n');
    expect(text).toMatch(/Index Scan.* using (book_row|book_row_\w+) on book_row/);
    expect(text).not.toMatch(/Seq Scan on book_row|Sort/);
    const removed = Number(/Rows Removed by Filter: (\d+)/.exec(text)?.[1] ?? 0);
    expect(removed).toBeLessThan(100);
  });
});

/** 3,000 rows, half an hour apart. Only the first sixty both have the intent and lack proof. */
async function fillTwoMonths(agent: number): Promise<void> {
  const born = Array.from({ length: 3_000 }, (_, index) => ({
    at: new Date(Date.parse('2026-01-01T00:00:00Z') + index * 1_800_000).toISOString(),
    intent_id: index < 60 || index % 2 === 0 ? 'bill-1' : null,
    evidence: index < 60 || index % 2 === 1 ? ('UNVERIFIED' as const) : ('collected' as const),
  }));
  await insertRowsAt(database, agent, born);
  await database.query({ text: 'analyze book_row' });
}
