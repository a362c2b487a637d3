import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { atomicAmount } from '../../../../schema/amount.ts';
import { type AgentId, agentId } from '../../../../schema/ids.ts';
import { arrive } from '../../../../subgraphs/book/ledger/arrive.ts';
import { matchingText, readMatching } from '../../../../subgraphs/book/page/matching.ts';
import type { RowFilter } from '../../../../subgraphs/book/page/row-scope.ts';
import type { Database } from '../../../../subgraphs/database.ts';
import { insertRowsAt } from '../../../harness/ledger/dated-rows.ts';
import { collectAll, vouchedCollection, withBooks } from '../../../harness/ledger/fixture.ts';
import { freshStore } from '../../../harness/store.ts';

const BOOK = agentId(7);
const START_MS = Date.parse('2026-03-01T22:00:00.000Z');

interface Fact {
  readonly at: number;
  readonly intentId: string | null;
  readonly evidence: 'collected' | 'policy_blocked' | 'foreign_ingest';
  readonly rail: 'usdc' | 'xno' | null;
  readonly amount: bigint | null;
}

/** Rows two hours apart over five days. The time of every seventh is before that of the row ahead of it. */
const facts: readonly Fact[] = Array.from({ length: 60 }, (_, index) => {
  const blocked = index % 5 === 0;
  const foreign = index % 4 === 0 && !blocked;
  return {
    at: START_MS + index * 7_200_000 - (index % 7 === 6 ? 9_000_000 : 0),
    intentId: (['bill-1', 'bill-2', null] as const)[index % 3] ?? null,
    evidence: blocked ? 'policy_blocked' : foreign ? 'foreign_ingest' : 'collected',
    rail: blocked ? null : foreign ? 'xno' : 'usdc',
    amount: blocked ? null : BigInt(index + 1),
  };
});

const rowsOf = (all: readonly Fact[]) =>
  all.map(({ at, intentId, evidence, rail, amount }, index) => ({
    at: new Date(at).toISOString(),
    intent_id: intentId,
    evidence,
    rail,
    amount: amount === null ? null : atomicAmount(amount),
    payment_ref: amount === null ? null : `base:0x${index}`,
    transfer_index: amount === null ? null : index,
  }));

let database: Database;
beforeAll(async () => {
  database = await freshStore();
  await withBooks(database, BOOK, 8);
  await insertRowsAt(database, BOOK, rowsOf(facts));
  // Another book with the same times, whose rows must not be found.
  await insertRowsAt(database, 8, rowsOf(facts));
});

function expected({ from, to, evidence, intentId, taskId }: RowFilter) {
  const rows = facts.filter(
    (row, index) =>
      (!from || row.at >= from.getTime()) &&
      (!to || row.at < to.getTime()) &&
      (!evidence || row.evidence === evidence) &&
      (!intentId || row.intentId === intentId) &&
      (!taskId || `task_${BOOK}_${index + 1}` === taskId),
  );
  const usdc = rows.filter(({ rail }) => rail === 'usdc').reduce((sum, { amount }) => sum + (amount ?? 0n), 0n);
  return { count: rows.length, usdc_sum: atomicAmount(usdc) };
}

/** Times at the start of a day, at an hour of it, or within an hour. */
const moments = fc
  .tuple(fc.integer({ min: -3, max: 8 }), fc.constantFrom(0, 0, 3_600_000, 43_200_001))
  .map(([days, rest]) => new Date(Date.parse('2026-03-01T00:00:00Z') + days * 86_400_000 + rest));
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: null, freq: 2 });
const filters: fc.Arbitrary<RowFilter> = fc.record({
  from: maybe(moments),
  to: maybe(moments),
  evidence: maybe(fc.constantFrom('collected', 'policy_blocked', 'UNVERIFIED')),
  intentId: fc.option(fc.constantFrom('bill-1', 'bill-2', 'none'), { nil: null, freq: 1 }),
  taskId: fc.option(fc.constantFrom(`task_${BOOK}_6`, 'task_8_6'), { nil: null, freq: 5 }),
});

describe('what all rows come to that a filter names', () => {
  it('is what the rows themselves come to, of any time and by any name', async () => {
    await fc.assert(
      fc.asyncProperty(filters, async filter => {
        expect(await readMatching(database, BOOK, filter)).toEqual(expected(filter));
      }),
      { numRuns: 200 },
    );
  });

  it('moves with a row whose money never arrived', async () => {
    const agent = agentId(11);
    await withBooks(database, agent);
    await database.transaction(tx => collectAll(tx, [vouchedCollection(agent, 1), vouchedCollection(agent, 2)]));
    const filter: RowFilter = { evidence: 'RECORDED_BY_SETTLE' };
    expect(await readMatching(database, agent, filter)).toEqual({ count: 2, usdc_sum: atomicAmount(4_000n) });
    await database.transaction(tx =>
      arrive(tx, [
        { task_id: `task_${agent}_1`, to: 'ARRIVAL_UNVERIFIED', omission_rule: 'no_ingress_receipt_at_cutoff' },
      ]),
    );
    expect(await readMatching(database, agent, filter)).toEqual({ count: 1, usdc_sum: atomicAmount(2_000n) });
    expect(await readMatching(database, agent, { evidence: 'ARRIVAL_UNVERIFIED' })).toEqual({
      count: 1,
      usdc_sum: atomicAmount(0n),
    });
    expect(await readMatching(database, agent, {})).toEqual({ count: 2, usdc_sum: atomicAmount(2_000n) });
  });

  it('is nothing of a book without rows', async () => {
    await withBooks(database, 12);
    for (const filter of [{}, { evidence: 'collected' }, { intentId: 'none' }, { to: new Date(START_MS + 1) }] as const)
      expect(await readMatching(database, agentId(12), filter)).toEqual({ count: 0, usdc_sum: atomicAmount(0n) });
  });
});

describe('on a book of more rows than may be read', () => {
  const LONG = agentId(13);
  const ROWS = 4_000;
  const READ_MAX = 200;
  const BEGUN_MS = Date.parse('2026-05-01T00:00:00Z');
  const matching = (filter: RowFilter) => readMatching(database, LONG, filter, READ_MAX);
  beforeAll(async () => {
    await withBooks(database, LONG);
    // One row for each minute.
    const rows = Array.from({ length: ROWS }, (_, index) => ({
      at: new Date(BEGUN_MS + index * 60_000).toISOString(),
      intent_id: index % 1_000 === 0 ? 'rare' : 'bill',
      amount: atomicAmount(1n),
    }));
    await insertRowsAt(database, LONG, rows);
    await database.query({ text: 'analyze book_row' });
  });

  it('whole days and the whole book are counted all the same', async () => {
    const all = { count: ROWS, usdc_sum: atomicAmount(BigInt(ROWS)) };
    const month = { from: new Date('2026-05-01'), to: new Date('2026-06-01') };
    for (const filter of [{}, { evidence: 'collected' }, month, { ...month, evidence: 'collected' }] as const)
      expect(await matching(filter)).toEqual(all);
  });

  it('what would take too many is null, and no more than the bound is read', async () => {
    for (const filter of [{ intentId: 'bill' }, { from: new Date(BEGUN_MS + 1) }]) {
      expect(await matching(filter)).toEqual({ count: null, usdc_sum: null });
      expect(await rowsRead(LONG, filter, READ_MAX)).toBeLessThanOrEqual(READ_MAX + 1);
    }
  });

  it('few rows of an intent or a time are read by their index, however long the book', async () => {
    const hour = { from: new Date(BEGUN_MS + 90_000_000), to: new Date(BEGUN_MS + 93_600_000) };
    for (const [filter, count] of [
      [{ intentId: 'rare' }, 4],
      [hour, 60],
      [{ ...hour, intentId: 'bill' }, 60],
    ] as const) {
      expect((await matching(filter)).count).toBe(count);
      expect(await rowsRead(LONG, filter, READ_MAX)).toBeLessThanOrEqual(READ_MAX + 1);
    }
  });
});

/** The largest number of rows that a scan of the table has read. */
async function rowsRead(agent: AgentId, filter: RowFilter, read_max: number): Promise<number> {
  const values: unknown[] = [agent];
  const text = matchingText(filter, value => `$${values.push(value)}`, read_max);
  const plan = await database.query<{ 'QUERY PLAN': string }>({
    text: `explain (analyze, costs off, timing off, summary off) ${text}`,
    values,
  });
  const lines = plan.map(line => line['QUERY PLAN']);
  const scans = lines.filter(line => / on book_row/.test(line));
  expect(lines.join('\n')).not.toMatch(/Seq Scan on book_row/);
  return Math.max(
    ...scans.map(line => {
      const [, each = '0', loops = '0'] = /rows=([\d.]+) loops=(\d+)/.exec(line) ?? [];
      return Math.round(Number.parseFloat(each) * Number.parseFloat(loops));
    }),
    ...lines.flatMap(line => /Rows Removed by Filter: (\d+)/.exec(line)?.[1] ?? []).map(Number.parseFloat),
  );
}
