import { withoutNull } from '../../../schema/camel.ts';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import { streamedFieldNames } from '../../../schema/export-row.ts';
import { exportLimits } from '../../../schema/limits.ts';
import type { StreamFormat } from '../../../schema/requests/export.ts';
import { iso } from '../../clock.ts';
import type { Database } from '../../database.ts';
import { streamedCells } from './cells.ts';
import { csvLine, jsonLine } from './lines.ts';
import { type BookSpan, type TextPage, textPages } from './pages.ts';
import { ParquetFile } from './parquet.ts';

/** Piece of a stream, as text or as bytes, with the progress after it. */
export interface StreamedPiece extends Progress {
  readonly text: string | null;
  readonly bytes: Uint8Array | null;
}

export interface StreamSource {
  readonly database: Database;
  readonly span: BookSpan;
  readonly base_url: string;
}

const csv = { name: 'csv', line: csvLine(streamedCells), separator: String.raw`E'\n'` };
const json = { name: 'json', line: jsonLine(streamedCells), separator: String.raw`E'\n'` };
const csvHead = `${streamedFieldNames.join()}\n`;

/**
 * Streams of all matching rows of a book, in constant memory. Before the first row, `last_seq` is the seq after which the reader
 * starts.
 */
export const bookStreams: Readonly<Record<StreamFormat, (source: StreamSource) => AsyncGenerator<StreamedPiece>>> = {
  async *csv({ database, span, base_url }) {
    // A reader that resumes after a row already has the header.
    const begun = progressFrom(span);
    if (span.after === 0) yield textPiece(begun, csvHead);
    yield* lines(begun, textPages(database, span, { ...csv, base_url }));
  },
  async *ndjson({ database, span, base_url }) {
    const end = yield* lines(progressFrom(span), textPages(database, span, { ...json, base_url }));
    const said = { ...atEnd(end, span), ...filtersOf(span) };
    yield textPiece(atEnd(end, span), `${JSON.stringify({ end: said })}\n`);
  },
  async *parquet({ database, span, base_url }) {
    const file = new ParquetFile();
    let done = progressFrom(span);
    for await (const { rows, to } of groups(textPages(database, span, { ...json, base_url }))) {
      done = progressAfter(done, rows.length, to);
      yield bytesPiece(done, file.group(rows));
    }
    const end = atEnd(done, span);
    const said = { rows_total: end.rows_total, last_seq: end.last_seq, ...filtersOf(span) };
    const texts = Object.entries(said).map(([name, it]) => [
      name,
      typeof it === 'number' ? `${it}` : JSON.stringify(it),
    ]);
    yield bytesPiece(end, file.end(Object.fromEntries(texts)));
  },
};

/** Turns pages into pieces of whole lines, with their progress. */
async function* lines(done: Progress, pages: AsyncIterable<TextPage>): AsyncGenerator<StreamedPiece, Progress> {
  for await (const { text, rows, to } of pages) {
    done = progressAfter(done, rows, to);
    if (rows > 0) yield textPiece(done, `${text}\n`);
  }
  return done;
}

/** Combines several pages into one row group, because the description of each group is in memory until the end. */
async function* groups(pages: AsyncIterable<TextPage>): AsyncGenerator<{ rows: JsonObject[]; to: number }> {
  let rows: JsonObject[] = [];
  let to = 0;
  for await (const page of pages) {
    if (page.rows > 0) rows.push(...page.text.split('\n').map(line => JSON.parse(line) as JsonObject));
    to = page.to;
    if (rows.length < exportLimits.parquet_group_pages * exportLimits.page_rows) continue;
    yield { rows, to };
    rows = [];
  }
  if (rows.length > 0) yield { rows, to };
}

/** Progress of a stream after a piece. */
export interface Progress {
  readonly rows_done: number;
  readonly rows_total: number;
  /** Seq of the last row that was read. An interrupted reader can resume after it. */
  readonly last_seq: number;
}

export function progressFrom({ after, rows_total }: BookSpan): Progress {
  return { rows_done: 0, rows_total, last_seq: after };
}

export function progressAfter({ rows_done, rows_total }: Progress, rows: number, last_seq: number): Progress {
  const done = rows_done + rows;
  return { rows_done: done, rows_total: Math.max(rows_total, done), last_seq };
}

/**
 * Progress at the end. With an evidence filter, rows that changed during the read may be missing, so the number of sent rows is the
 * total. In any other stream a missing row makes the two numbers differ.
 */
function atEnd({ rows_done }: Progress, { last_seq, rows_total, filter }: BookSpan): Progress {
  return { rows_done, rows_total: filter.evidence ? rows_done : rows_total, last_seq };
}

/** Filters of the stream, with the member names of a request. Empty for the whole book. */
export function filtersOf({ filter }: BookSpan): { readonly filters?: JsonObject } {
  const { from, to, evidence, intentId: intent_id, delegationHash: delegation_hash } = filter;
  const [begins, ends] = [from, to].map(at => (at ? iso(at.getTime()) : null));
  const filters = withoutNull({ from: begins, to: ends, evidence, intent_id, delegation_hash }) as JsonObject;
  return Object.keys(filters).length === 0 ? {} : { filters };
}

export function textPiece(progress: Progress, text: string): StreamedPiece {
  return { text, bytes: null, ...progress };
}

function bytesPiece(progress: Progress, bytes: Uint8Array): StreamedPiece {
  return { text: null, bytes, ...progress };
}
