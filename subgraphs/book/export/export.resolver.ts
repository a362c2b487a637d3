import { Arg, Ctx, FieldResolver, Int, Query, Resolver, Root, Subscription } from 'type-graphql';
import { withoutNull } from '../../../schema/camel.ts';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import { Refusal } from '../../../schema/errors.ts';
import type { ExportScope } from '../../../schema/export-coverage.ts';
import {
  type JournalFormat,
  JournalRequest,
  type JournalUnit,
  type StreamFormat,
  StreamRequest,
} from '../../../schema/requests/export.ts';
import { parseRequest } from '../../../schema/requests/parse.ts';
import { requirePossession } from '../../access.ts';
import { iso } from '../../clock.ts';
import type { BookContext } from '../context.ts';
import { type BookAudit, bookAudit } from './audit.ts';
import { csvOf } from './csv.ts';
import { BookExport, BookExportFilter, BookExportPiece, exportPiece } from './export.type.ts';
import { JournalFormatWord, JournalUnitWord, StreamFormatWord } from './export-words.ts';
import { auditPage } from './html.ts';
import { bookJournal } from './journal-stream.ts';
import { spanOf } from './pages.ts';
import { scopeOf } from './publish.ts';
import { exportedRows, exportHead, readingOf } from './read.ts';
import { StreamRoom } from './room.ts';
import { bookStreams, progress, type StreamedPiece, type StreamSource } from './stream.ts';

/** What the forms of an export are made of. */
interface Exported {
  readonly audit: BookAudit;
  readonly scope: ExportScope;
}

const room = new StreamRoom();

@Resolver(() => BookExport)
export class BookExportResolver {
  @Query(() => BookExport, {
    nullable: true,
    description: 'The newest rows that match, at most 200, for whoever possesses the book.',
  })
  async bookExport(
    @Arg('agentId', () => Int, { description: 'Whose book.' }) agentId: number,
    @Arg('filter', () => BookExportFilter, { nullable: true, description: 'Which rows; all where it is left out.' })
    filter: BookExportFilter | null,
    @Arg('limit', () => Int, {
      nullable: true,
      description: 'Rows: 1 to 200, 200 where it is left out; more is clamped.',
    })
    limit: number | null,
    @Ctx() { principal, database, clock, base_url }: BookContext,
  ): Promise<Exported> {
    const agent_id = requirePossession(principal, agentId);
    const scope = scopeOf(agent_id, filter ?? {}, limit ?? null);
    const reading = readingOf(database);
    const head = await exportHead(reading, agent_id);
    if (head === null) throw new Refusal('forbidden');
    if (head.damaged) throw new Refusal('book_damaged');
    const rows = await exportedRows(reading, scope, base_url);
    const exported_at = iso(clock.now_ms());
    return { audit: bookAudit(agent_id, { exported_at, policy: head.policy, rows }), scope };
  }

  @FieldResolver()
  document(@Root() { audit }: Exported): JsonObject {
    return audit;
  }

  @FieldResolver()
  csv(@Root() { audit }: Exported): string {
    return csvOf(audit.rows);
  }

  @FieldResolver()
  html(@Root() { audit, scope }: Exported, @Ctx() { base_url }: BookContext): string {
    return auditPage(audit, scope, base_url);
  }

  @Subscription(() => BookExportPiece, {
    description: 'A whole book after the row of seq `after`, as csv, ndjson or parquet.',
    subscribe: ({ args, context }) => {
      const { format = 'csv', after = 0 } = parseRequest(
        StreamRequest,
        withoutNull({ format: args.format, after: args.after }),
      );
      return begin(args.agentId, after, context as BookContext, bookStreams[format]);
    },
  })
  bookExportStream(
    @Arg('agentId', () => Int, { description: 'Whose book.' }) _agentId: number,
    @Arg('format', () => StreamFormatWord, { nullable: true, description: 'csv where it is left out.' })
    _format: StreamFormat | null,
    @Arg('after', () => Int, { nullable: true, description: 'The seq of the last row that the reader has.' }) _after:
      | number
      | null,
    @Root() piece: StreamedPiece,
  ): BookExportPiece {
    return exportPiece(piece);
  }

  @Subscription(() => BookExportPiece, {
    description: 'The spend of a whole book by double entry, as csv or ledger, per row or per day.',
    subscribe: ({ args, context }) => {
      const { format = 'csv', per = 'row' } = parseRequest(
        JournalRequest,
        withoutNull({ format: args.format, per: args.per }),
      );
      return begin(args.agentId, 0, context as BookContext, source => bookJournal(source, format, per));
    },
  })
  bookJournal(
    @Arg('agentId', () => Int, { description: 'Whose book.' }) _agentId: number,
    @Arg('format', () => JournalFormatWord, { nullable: true, description: 'csv where it is left out.' })
    _format: JournalFormat | null,
    @Arg('per', () => JournalUnitWord, { nullable: true, description: 'row where it is left out.' })
    _per: JournalUnit | null,
    @Root() piece: StreamedPiece,
  ): BookExportPiece {
    return exportPiece(piece);
  }
}

/** How far a stream will go is told before its first byte, since no form but ndjson could say it at its end. */
async function begin(
  agentId: number,
  after: number,
  { principal, database, base_url, response }: BookContext,
  open: (source: StreamSource) => AsyncIterable<StreamedPiece>,
): Promise<AsyncIterable<StreamedPiece>> {
  const agent_id = requirePossession(principal, agentId);
  room.requireRoom(agent_id);
  const span = await spanOf(database, agent_id, after);
  const { rows_total, last_seq } = progress(span, span.last_seq);
  response.headers['x-svc-export-rows'] = String(rows_total);
  response.headers['x-svc-export-last-seq'] = String(last_seq);
  return room.hold(agent_id, open({ database, span, base_url }));
}
