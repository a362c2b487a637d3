import { z } from 'zod';
import { ExportPieceNoun, PublishedExportNoun, WithdrawnExportNoun } from '../../schema/book/export.ts';
import { isJsonObject, type Json, type JsonObject } from '../../schema/canonical-json.ts';
import {
  ExportQuery,
  ExportRequest,
  JournalBody,
  JournalQuery,
  PublishRequest,
  PullExportPath,
  StreamBody,
  StreamQuery,
} from '../../schema/requests/export.ts';
import { ZIP } from '../bytes-cache.ts';
import { documentDoor } from '../door.ts';
import { fieldOperation } from '../field-operation.ts';
import { pieceFrames } from '../sse.ts';
import { queryOf } from '../text-members.ts';
import { AgentPath } from './doors.ts';
import { BookAuditAnswer, PullExportAnswer } from './export-answers.ts';

const CSV = 'text/csv; charset=utf-8';
const HTML = 'text/html; charset=utf-8';

/** Member `name` of the root field. Null if there is none. */
function member(name: string) {
  return ({ answer }: JsonObject): Json => (isJsonObject(answer) ? (answer[name] ?? null) : null);
}

function textOf(data: JsonObject): string | null {
  const text = member('text')(data);
  return typeof text === 'string' ? text : null;
}

/** An export in one of its forms. */
function textAs(name: string, field: string, graph: string) {
  return fieldOperation({ name, field, shows: z.object({ text: z.string().meta({ graph }) }) });
}

const Piece = ExportPieceNoun.pick({ text: true, base64: true });
const EXPORT_PIECES = fieldOperation({ name: 'stream_book_export', field: 'bookExportStream', shows: Piece });
const JOURNAL_PIECES = fieldOperation({ name: 'stream_book_journal', field: 'bookJournal', shows: Piece });

const streamForms = {
  csv: pieceFrames(CSV),
  ndjson: pieceFrames('application/x-ndjson; charset=utf-8'),
  parquet: pieceFrames('application/vnd.apache.parquet'),
} as const;

const journalForms = { csv: pieceFrames(CSV), ledger: pieceFrames('text/x-ledger; charset=utf-8') } as const;

const mediaOf = (forms: Readonly<Record<string, { readonly headers: Readonly<Record<string, string>> }>>) =>
  Object.values(forms).flatMap(({ headers }) => headers['content-type'] ?? []);

export const exportDoors = [
  documentDoor({
    name: 'export_book',
    effect: 'reads',
    methods: ['GET', 'POST'],
    path: '/v1/agents/{agent_id}/book/export',
    summary: 'Export a book as CSV, as an audit pack (JSON), as a page for print, or as a bundle to check offline',
    tags: ['book'],
    possession: 'required',
    field: 'bookExport',
    shows: z.object({ document: BookAuditAnswer }),
    forms: {
      csv: { media: CSV, document: textAs('export_book_csv', 'bookExport', 'csv'), textOf },
      html: { media: HTML, document: textAs('export_book_html', 'bookExport', 'html'), textOf },
      bundle: { media: ZIP, document: textAs('export_book_bundle', 'bookExport', 'bundle'), textOf },
    },
    form: ({ query, body }) => body.format ?? query.format ?? 'csv',
    params: AgentPath,
    // An unknown member is refused, because with a misspelt filter all rows would be exported.
    query: queryOf(ExportQuery),
    body: ExportRequest,
    answer: member('document'),
    says_extent: true,
    response: BookAuditAnswer,
    errors: ['book_damaged'],
  }),
  documentDoor({
    name: 'stream_book_export',
    effect: 'reads',
    tool: { none: 'comes_in_pieces' },
    methods: ['GET', 'POST'],
    path: '/v1/agents/{agent_id}/book/export/stream',
    summary: 'Stream all matching rows of the book as CSV, NDJSON or Parquet; `after` resumes after a row',
    tags: ['book'],
    possession: 'required',
    in_pieces: true,
    document: EXPORT_PIECES,
    stream: {
      isRequested: () => true,
      document: EXPORT_PIECES,
      frames: ({ query, body }) => streamForms[body.format ?? query.format ?? 'csv'],
      eventOf: data => data.answer ?? null,
    },
    media: CSV,
    other_media: mediaOf(streamForms).slice(1),
    params: AgentPath,
    query: queryOf(StreamQuery),
    body: StreamBody,
    response: z.string(),
    errors: ['book_damaged'],
  }),
  documentDoor({
    name: 'stream_book_journal',
    effect: 'reads',
    tool: { none: 'comes_in_pieces' },
    methods: ['GET', 'POST'],
    path: '/v1/agents/{agent_id}/book/export/journal',
    summary: 'Export a double-entry journal of the spend of the book, as CSV or in the format of ledger and hledger',
    tags: ['book'],
    possession: 'required',
    in_pieces: true,
    document: JOURNAL_PIECES,
    stream: {
      isRequested: () => true,
      document: JOURNAL_PIECES,
      frames: ({ query, body }) => journalForms[body.format ?? query.format ?? 'csv'],
      eventOf: data => data.answer ?? null,
    },
    media: CSV,
    other_media: mediaOf(journalForms).slice(1),
    params: AgentPath,
    query: queryOf(JournalQuery),
    body: JournalBody,
    response: z.string(),
    errors: ['book_damaged'],
  }),
  documentDoor({
    name: 'publish_book_export',
    methods: ['POST'],
    path: '/v1/agents/{agent_id}/book/export/publish',
    summary: 'Publish a signed export of the book at a public URL, or update the published one',
    tags: ['book'],
    possession: 'required',
    field: 'publishExport',
    params: AgentPath,
    body: PublishRequest,
    response: PublishedExportNoun,
    errors: ['book_damaged', 'not_found'],
  }),
  documentDoor({
    name: 'get_published_export',
    methods: ['GET'],
    path: '/v1/agents/{agent_id}/book/export/publish',
    summary: 'Get the published export of the book and its URL',
    tags: ['book'],
    possession: 'required',
    field: 'publishedExport',
    params: AgentPath,
    response: PublishedExportNoun,
    errors: ['not_found'],
  }),
  documentDoor({
    name: 'withdraw_book_export',
    methods: ['DELETE'],
    path: '/v1/agents/{agent_id}/book/export/publish',
    summary: 'Withdraw the published export; its URL answers 404 from then on',
    tags: ['book'],
    possession: 'required',
    field: 'withdrawExport',
    params: AgentPath,
    response: WithdrawnExportNoun,
    errors: ['not_found'],
  }),
  documentDoor({
    name: 'pull_book_export',
    methods: ['GET'],
    path: '/public/export/{slug}',
    summary: 'Get a published export with its coverage and signature, to verify offline, or only its rows as CSV',
    tags: ['book'],
    document: textAs('pull_book_export', 'pullExport', 'signed'),
    forms: { csv: { media: CSV, document: textAs('pull_book_export_csv', 'pullExport', 'csv'), textOf } },
    form: ({ query }) => query.format ?? 'json',
    says_extent: true,
    params: PullExportPath,
    query: z.strictObject({
      format: z.enum(['json', 'csv']).optional().describe('`json` (default): the signed export. `csv`: its rows only.'),
    }),
    answer: textOf,
    // It may be withdrawn at any time, so caches must revalidate it.
    cache: 'public, no-cache',
    response: PullExportAnswer,
    errors: ['not_found'],
  }),
] as const;
