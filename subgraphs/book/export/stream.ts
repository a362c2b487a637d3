import type { JsonObject } from '../../../schema/canonical-json.ts';
import { exportLimits } from '../../../schema/export-limits.ts';
import { exportFieldNames } from '../../../schema/export-row.ts';
import type { StreamFormat } from '../../../schema/requests/export.ts';
import type { Database } from '../../database.ts';
import { cells, seqCell } from './cells.ts';
import { csvLine, jsonLine } from './lines.ts';
import { type BookSpan, type TextPage, textPages } from './pages.ts';
import { ParquetFile } from './parquet.ts';

/** A piece of a stream: its bytes, and how far it has come. */
export interface StreamedPiece {
  readonly text: string | null;
  readonly bytes: Uint8Array | null;
  readonly rows_done: number;
  readonly rows_total: number;
  /** Of the last row that has gone out: a reader that was cut off goes on after it. */
  readonly last_seq: number;
}

export interface StreamSource {
  readonly database: Database;
  readonly span: BookSpan;
  readonly base_url: string;
}

const withSeq = [seqCell, ...cells];
const csv = { name: 'csv', line: csvLine(withSeq), separator: String.raw`E'\n'` };
const json = { name: 'json', line: jsonLine(withSeq), separator: String.raw`E'\n'` };
const csvHead = `${['seq', ...exportFieldNames].join()}\n`;

/** A whole book, in constant memory. What comes before the first row has `last_seq` where the reader begins. */
export const bookStreams: Readonly<Record<StreamFormat, (source: StreamSource) => AsyncGenerator<StreamedPiece>>> = {
  async *csv({ database, span, base_url }) {
    // Whoever goes on after a row has the names above it.
    if (span.after === 0) yield textPiece(span, span.after, csvHead);
    for await (const { text, to } of textPages(database, span, { ...csv, base_url }))
      yield textPiece(span, to, `${text}\n`);
  },
  async *ndjson({ database, span, base_url }) {
    for await (const { text, to } of textPages(database, span, { ...json, base_url }))
      yield textPiece(span, to, `${text}\n`);
    const { rows_done, rows_total, last_seq } = progress(span, span.last_seq);
    yield textPiece(span, span.last_seq, `${JSON.stringify({ end: { rows_done, rows_total, last_seq } })}\n`);
  },
  async *parquet({ database, span, base_url }) {
    const { rows_total, last_seq } = progress(span, span.last_seq);
    const file = new ParquetFile({ rows_total: String(rows_total), last_seq: String(last_seq) });
    for await (const group of groups(textPages(database, span, { ...json, base_url })))
      yield bytesPiece(span, group.to, file.group(group.rows));
    yield bytesPiece(span, span.last_seq, file.end());
  },
};

/** Several pages in one group: the file's end tells of each group, and is held in memory until then. */
async function* groups(pages: AsyncIterable<TextPage>): AsyncGenerator<{ rows: JsonObject[]; to: number }> {
  let rows: JsonObject[] = [];
  let last: TextPage | null = null;
  for await (const page of pages) {
    rows.push(...page.text.split('\n').map(line => JSON.parse(line) as JsonObject));
    last = page;
    if (rows.length < exportLimits.parquet_group_pages * exportLimits.page_rows) continue;
    yield { rows, to: page.to };
    [rows, last] = [[], null];
  }
  if (last) yield { rows, to: last.to };
}

export function progress({ after, last_seq }: BookSpan, to: number) {
  return { rows_done: to - after, rows_total: last_seq - after, last_seq: to };
}

export function textPiece(span: BookSpan, to: number, text: string): StreamedPiece {
  return { text, bytes: null, ...progress(span, to) };
}

function bytesPiece(span: BookSpan, to: number, bytes: Uint8Array): StreamedPiece {
  return { text: null, bytes, ...progress(span, to) };
}
