import pg from 'pg';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import { Refusal } from '../../../schema/errors.ts';
import {
  type CoveragePayload,
  coveragePayload,
  type ExportScope,
  type ScannedUniverse,
} from '../../../schema/export-coverage.ts';
import type { BookPolicy } from '../../../schema/policy-kinds.ts';
import type { Database, Tx } from '../../database.ts';
import { type BookAudit, bookAudit } from './audit.ts';
import { csvOf } from './csv.ts';
import { type ExportReader, exportedRows, exportHead, readingOf, scanUniverse } from './read.ts';

/** Export whose parts all come from one snapshot of the book. */
export interface BuiltExport {
  readonly audit: BookAudit;
  readonly csv: string;
  readonly coverage: CoveragePayload;
}

export interface ExportBuildInput {
  readonly scope: ExportScope;
  readonly subject_task_id: string | null;
  /** Time of the export (ISO 8601). */
  readonly exported_at: string;
  readonly base_url: string;
  /** Maximum time of the scan (ms). If it takes longer, the export is empty and states the reason. */
  readonly scan_ms_max: number;
}

/**
 * Builds an export.
 * @throws forbidden if the book does not exist; book_damaged
 */
export async function buildExport(database: Database, input: ExportBuildInput): Promise<BuiltExport> {
  const { scope, subject_task_id, exported_at } = input;
  const read = await readAtOnce(database, input);
  const audit = bookAudit(scope.book_id, { exported_at, policy: read.policy, rows: read.rows });
  return { audit, csv: csvOf(read.rows), coverage: coveragePayload(scope, read.rows, read.scanned, subject_task_id) };
}

interface ReadExport {
  readonly policy: BookPolicy;
  readonly rows: JsonObject[];
  /** Null if the scan did not finish. */
  readonly scanned: ScannedUniverse | null;
}

/** SQLSTATE query_canceled, which Postgres reports after statement_timeout. */
const QUERY_CANCELED = '57014';

async function readAtOnce(database: Database, input: ExportBuildInput): Promise<ReadExport> {
  try {
    return await database.transaction(tx => readIn(tx, input));
  } catch (error) {
    if (!(error instanceof pg.DatabaseError) || error.code !== QUERY_CANCELED) throw error;
    const policy = await policyOf(readingOf(database), input.scope);
    return { policy, rows: [], scanned: null };
  }
}

/** Reads rows, counts and hashes in one snapshot, so that a new row is in all of them or in none. */
async function readIn(
  tx: Tx,
  { scope, subject_task_id, base_url, scan_ms_max }: ExportBuildInput,
): Promise<ReadExport> {
  await tx.query('set transaction isolation level repeatable read, read only');
  await tx.query(`set local statement_timeout = ${scan_ms_max}`);
  const policy = await policyOf(tx, scope);
  const rows = await exportedRows(tx, scope, base_url);
  return { policy, rows, scanned: await scanUniverse(tx, scope, subject_task_id) };
}

async function policyOf(reading: ExportReader, { book_id }: ExportScope): Promise<BookPolicy> {
  const head = await exportHead(reading, book_id);
  if (head === null) throw new Refusal('forbidden');
  if (head.damaged) throw new Refusal('book_damaged');
  return head.policy;
}
