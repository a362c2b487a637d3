import { Args, Ctx, FieldResolver, Query, Resolver, Root, Subscription } from 'type-graphql';
import type { AtomicAmount } from '../../../schema/amount.ts';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import { Refusal } from '../../../schema/errors.ts';
import type { ExportScope } from '../../../schema/export-coverage.ts';
import { exportLimits } from '../../../schema/limits.ts';
import { exportUrl } from '../../../schema/pull-export.ts';
import { BookPath } from '../../../schema/requests/book-path.ts';
import {
  type ExportFormat,
  ExportPageRequest,
  JournalArgumentsRequest,
  JournalRequest,
  StreamRequest,
} from '../../../schema/requests/export.ts';
import { accountsOf } from '../../../schema/requests/journal-accounts.ts';
import { parseRequest } from '../../../schema/requests/parse.ts';
import { requirePossession } from '../../access.ts';
import { iso } from '../../clock.ts';
import { type Arguments, type ArgumentsOfBook, argumentsType, givenMembers, readRequest } from '../../graph-type.ts';
import { bookBundle } from '../../receipt/auditor/bundle.ts';
import type { BookContext } from '../context.ts';
import { rowFilter } from '../page/page-arguments.type.ts';
import { type BookSpending, spendingDocument } from '../page/spending.ts';
import { type BookAudit, bookAudit, type ExportExtent, exportExtent, extentHeaders, pendingOf } from './audit.ts';
import { csvOf } from './csv.ts';
import { BookExport, BookExportPiece, exportPiece } from './export.type.ts';
import { auditPage } from './html.ts';
import { bookJournal } from './journal-stream.ts';
import { type BookSpan, spanOf } from './pages.ts';
import { scopeOf } from './publish.ts';
import { type ExportedPage, exportedPage, exportHead, readingOf } from './read.ts';
import { StreamRoom } from './room.ts';
import { bookStreams, type StreamedPiece, type StreamSource } from './stream.ts';

/** Data from which the formats of an export are made. */
interface ExportData {
  readonly audit: BookAudit;
  readonly scope: ExportScope;
  readonly page: ExportedPage;
  /** Spending of the whole book, whichever rows are shown. */
  readonly spending: BookSpending;
}

const room = new StreamRoom();

const PageArguments = argumentsType(BookPath, ExportPageRequest);
const StreamArguments = argumentsType(BookPath, StreamRequest);
const JournalArguments = argumentsType(BookPath, JournalArgumentsRequest);

@Resolver(() => BookExport)
export class BookExportResolver {
  @Query(() => BookExport, {
    nullable: true,
    description: `Export of the newest matching rows of a book, at most ${exportLimits.rows_max}. Requires possession of the book. Null if there is an error.`,
  })
  async bookExport(
    @Args(() => PageArguments) args: ArgumentsOfBook,
    @Ctx() { principal, database, clock, base_url }: BookContext,
  ): Promise<ExportData> {
    const agent_id = requirePossession(principal, args.agentId);
    const { filter = {}, limit = null, before = null } = readRequest(ExportPageRequest, args);
    const scope = scopeOf(agent_id, rowFilter(filter), limit);
    const reading = readingOf(database);
    const head = await exportHead(reading, agent_id);
    if (head === null) throw new Refusal('forbidden');
    if (head.damaged) throw new Refusal('book_damaged');
    const page = await exportedPage(reading, scope, before, base_url);
    const exported_at = iso(clock.now_ms());
    const audit = bookAudit(agent_id, { exported_at, policy: head.policy, rows: page.rows });
    return { audit, scope, page, spending: head.spending };
  }

  @FieldResolver()
  document(@Root() exported: ExportData, @Ctx() context: BookContext): JsonObject {
    const { rows, attestation_note, totals, ...audit } = exported.audit;
    const extent = sendExtentHeaders(exported, 'json', context);
    const spending = spendingDocument(exported.spending);
    // Rows and note come last, after the members that describe them.
    return { ...audit, totals: { ...totals, ...pendingOf(rows) }, ...extent, ...spending, rows, attestation_note };
  }

  @FieldResolver()
  csv(@Root() exported: ExportData, @Ctx() context: BookContext): string {
    sendExtentHeaders(exported, 'csv', context);
    return csvOf(exported.audit.rows);
  }

  @FieldResolver()
  html(@Root() exported: ExportData, @Ctx() context: BookContext): string {
    const extent = sendExtentHeaders(exported, 'html', context);
    return auditPage({ ...exported, extent, before: exported.page.before }, context.base_url, context.profile);
  }

  @FieldResolver()
  async bundle(@Root() exported: ExportData, @Ctx() context: BookContext): Promise<string> {
    const { rows, attestation_note, ...audit } = exported.audit;
    const pack = { ...audit, ...sendExtentHeaders(exported, 'bundle', context), rows, attestation_note };
    return Buffer.from(await bookBundle(pack, rows, context)).toString('base64');
  }

  @FieldResolver()
  truncated(@Root() { page }: ExportData): boolean {
    return exportExtent(page, null).truncated;
  }

  @FieldResolver()
  matchingCount(@Root() { page }: ExportData): number | null {
    return page.matching.count;
  }

  @FieldResolver()
  matchingUsdcSum(@Root() { page }: ExportData): AtomicAmount | null {
    return page.matching.usdc_sum;
  }

  @FieldResolver()
  nextBefore(@Root() { page }: ExportData): number | null {
    return page.next_before;
  }

  @Subscription(() => BookExportPiece, {
    description:
      'Export of all matching rows of a book whose seq is greater than `after`, piece by piece, as csv, ndjson or parquet. Requires possession of the book.',
    subscribe: ({ args, context }) => {
      const agent_id = requirePossession(context.principal, args.agentId);
      const { format = 'csv', after = 0, filter = {} } = readRequest(StreamRequest, args);
      return begin({ agent_id, after, filter: rowFilter(filter) }, context as BookContext, bookStreams[format]);
    },
  })
  bookExportStream(@Args(() => StreamArguments) _asked: Arguments, @Root() piece: StreamedPiece): BookExportPiece {
    return exportPiece(piece);
  }

  @Subscription(() => BookExportPiece, {
    description:
      'Double-entry journal of all matching spend of a book: csv or ledger, one entry per row or per day. Each amount is debited to the account of its kind. Requires possession of the book.',
    subscribe: ({ args, context }) => {
      const agent_id = requirePossession(context.principal, args.agentId);
      const request = parseRequest(JournalRequest, givenMembers(JournalRequest, { ...args, ...args.accounts }));
      const { format = 'csv', per = 'row' } = request;
      const { filter = {} } = readRequest(JournalArgumentsRequest.pick({ filter: true }), args);
      const span = { agent_id, after: 0, filter: rowFilter(filter) };
      return begin(span, context as BookContext, source => bookJournal(source, format, per, accountsOf(request)));
    },
  })
  bookJournal(@Args(() => JournalArguments) _asked: Arguments, @Root() piece: StreamedPiece): BookExportPiece {
    return exportPiece(piece);
  }
}

/** Returns the extent, and also sends it in headers, because CSV has no place for it. */
function sendExtentHeaders(
  { page, scope }: ExportData,
  format: ExportFormat,
  { response, base_url }: Pick<BookContext, 'response' | 'base_url'>,
): ExportExtent {
  const { book_id, from, to, filters, limit } = scope;
  const before = page.next_before;
  const next = before === null ? null : exportUrl(base_url, book_id, { format, from, to, ...filters, limit, before });
  const extent = exportExtent(page, next);
  Object.assign(response.headers, extentHeaders(extent), next !== null && { link: `<${next}>; rel="next"` });
  return extent;
}

/** Begins a stream. The number of rows is sent in headers before the first byte, because CSV has no place for it. */
async function begin(
  { agent_id, after, filter }: Pick<BookSpan, 'agent_id' | 'after' | 'filter'>,
  { database, base_url, response, left }: BookContext,
  open: (source: StreamSource) => AsyncIterable<StreamedPiece>,
): Promise<AsyncIterable<StreamedPiece>> {
  const span = await room.during(agent_id, () => spanOf(database, agent_id, after, filter, left));
  response.headers['x-svc-export-rows'] = String(span.rows_total);
  response.headers['x-svc-export-last-seq'] = String(span.last_seq);
  return room.hold(agent_id, open({ database, span, base_url }));
}
