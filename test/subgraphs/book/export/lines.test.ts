import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { beforeAll, expect, it } from 'vitest';
import { canonicalJson, type JsonObject } from '../../../../schema/canonical-json.ts';
import { evidences } from '../../../../schema/evidence.ts';
import { streamedFieldNames } from '../../../../schema/export-row.ts';
import { agentId } from '../../../../schema/ids.ts';
import { exportLimits } from '../../../../schema/limits.ts';
import { wordList } from '../../../../schema/words.ts';
import { csvOf } from '../../../../subgraphs/book/export/csv.ts';
import { spanOf } from '../../../../subgraphs/book/export/pages.ts';
import { exportedRows, readingOf } from '../../../../subgraphs/book/export/read.ts';
import { bookStreams } from '../../../../subgraphs/book/export/stream.ts';
import { anyRow, bookOf } from '../../../harness/export/book.ts';
import { freshStore } from '../../../harness/store.ts';

const base_url = 'http://127.0.0.1:4000';
let store: Awaited<ReturnType<typeof freshStore>>;
let agents = 0;
beforeAll(async () => {
  store = await freshStore();
});

async function newBook(rows: Parameters<typeof bookOf>[2]) {
  const agent_id = agentId(++agents);
  await bookOf(store, agent_id, rows);
  return agent_id;
}

async function streamed(agent_id: ReturnType<typeof agentId>, format: 'csv' | 'ndjson', after = 0): Promise<string> {
  const span = await spanOf(store, agent_id, after);
  let text = '';
  for await (const piece of bookStreams[format]({ database: store, span, base_url })) text += piece.text ?? '';
  return text;
}

/** All rows of a small book as the audit pack shows them. */
const rowsOf = (book_id: number) =>
  exportedRows(
    readingOf(store),
    { book_id, from: null, to: null, filters: { evidence: null, intent_id: null }, limit: 1_000 },
    base_url,
  );

/** Normalises JSON in a cell, which may be written with or without spaces. */
const meant = (cell: string) => (/^[{[]/.test(cell) ? canonicalJson(JSON.parse(cell)) : cell);

const byTask = (rows: readonly JsonObject[]) => new Map(rows.map(row => [row.task_id, row]));

it('the same rows by Postgres and by csv-stringify read the same, whatever a caller wrote', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(anyRow, { minLength: 1, maxLength: 30 }), async rows => {
      const agent_id = await newBook(rows);
      const shown = await rowsOf(agent_id);
      const ours: string[][] = parse(await streamed(agent_id, 'csv'), { relax_column_count: false });
      const theirs: string[][] = parse(csvOf(shown, streamedFieldNames));
      expect(ours[0]).toEqual(streamedFieldNames);
      const known = new Map(theirs.slice(1).map(record => [record[1] ?? '', record]));
      expect(ours.length).toBe(rows.length + 1);
      for (const cells of ours.slice(1)) expect(cells.map(meant)).toEqual(known.get(cells[1] ?? '')?.map(meant));
    }),
    { numRuns: 15 },
  );
});

it('a line of NDJSON is the row of the audit pack with its seq before it, and the last one says that it is', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(anyRow, { minLength: 1, maxLength: 30 }), async rows => {
      const agent_id = await newBook(rows);
      const shown = byTask(await rowsOf(agent_id));
      const lines = (await streamed(agent_id, 'ndjson'))
        .trimEnd()
        .split('\n')
        .map(line => JSON.parse(line) as JsonObject);
      const end = lines.pop();
      expect(end).toEqual({ end: { rows_done: rows.length, rows_total: rows.length, last_seq: rows.length } });
      expect(lines.map(({ seq }) => seq)).toEqual(rows.map((_, index) => index + 1));
      for (const row of lines) expect(row).toEqual(shown.get(String(row.task_id ?? '')));
    }),
    { numRuns: 10 },
  );
});

it('no cell of a stream begins as a formula does', async () => {
  const agent_id = await newBook(['=1+1', '+1', '-1', '@a', '\t=1', '\r=1', '＝1'].map(model => ({ model })));
  const [, ...records]: string[][] = parse(await streamed(agent_id, 'csv'));
  expect(records.length).toBe(7);
  for (const cell of records.flat()) expect(cell).not.toMatch(/^[=+\-@\t\r＝]/);
});

it('a row names the receipt that it rests on, or the refusal that it tells of, or neither', async () => {
  const facts = { refusal_id: 'refusal_1' };
  const agent_id = await newBook(wordList(evidences).map(evidence => ({ evidence, facts })));
  for (const { evidence, task_id, verify_url, auditor_url } of await rowsOf(agent_id)) {
    const receipt = `${base_url}/receipt/${task_id}`;
    const none: readonly unknown[] = ['inflow_claimed', 'a2a_escrow'];
    const refusal = evidence === 'policy_blocked' ? `${base_url}/refusal/refusal_1` : null;
    const unreceipted = refusal !== null || none.includes(evidence);
    expect([evidence, verify_url]).toEqual([evidence, unreceipted ? refusal : receipt]);
    expect([evidence, auditor_url]).toEqual([evidence, unreceipted ? null : `${receipt}?format=auditor`]);
  }
});

it('goes on after any row, with no row twice and none left out, across pages', async () => {
  const agent_id = await newBook(Array.from({ length: 2_150 }, () => ({})));
  const whole = (await streamed(agent_id, 'csv')).split('\n');
  for (const after of [1, 999, 1_000, 1_001, 2_149]) {
    const rest = (await streamed(agent_id, 'csv', after)).split('\n');
    expect(rest).toEqual(whole.slice(after + 1));
  }
  expect(await streamed(agent_id, 'csv', 2_150)).toBe('');
});

it('rows that match are counted step by step, and no further once their reader has left', async () => {
  const agent_id = await newBook([{}, {}, {}]);
  await store.query({
    text: 'update book set seq = $2 where agent_id = $1',
    values: [agent_id, 4 * exportLimits.counted_seqs],
  });
  const left = new AbortController();
  let counted = 0;
  const counting: typeof store = {
    ...store,
    async query(statement) {
      const rows = await store.query(statement);
      if (statement.name?.startsWith('export count') && ++counted === 2) left.abort();
      return rows as never;
    },
  };
  const filter = { evidence: 'collected' } as const;
  await expect(spanOf(counting, agent_id, 0, filter, left.signal)).rejects.toMatchObject({ code: 'unavailable' });
  expect(counted).toBe(2);
  await spanOf(counting, agent_id, 0, filter);
  expect(counted).toBe(6);
});
