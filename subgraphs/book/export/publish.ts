import type { PullFormat } from '../../../schema/book/export-document.ts';
import { Refusal } from '../../../schema/errors.ts';
import type { CoveragePayload, ExportScope } from '../../../schema/export-coverage.ts';
import type { AgentId } from '../../../schema/ids.ts';
import { exportLimits } from '../../../schema/limits.ts';
import { exportRows } from '../../../schema/requests/export.ts';
import { iso } from '../../clock.ts';
import { asEntity, selectList } from '../../columns.ts';
import type { Database, Tx } from '../../database.ts';
import { requireNotHalted } from '../../receipt/log/halt-guard.ts';
import { Semaphore } from '../../semaphore.ts';
import type { BookContext } from '../context.ts';
import type { RowFilter } from '../page/row-scope.ts';
import type { ExportExtent } from './audit.ts';
import { buildExport } from './build.ts';
import { PullExport } from './pull-export.entity.ts';
import { signedPullExport } from './sign.ts';

/** 128 bits, so that a slug cannot be guessed. */
const SLUG_BYTES = 16;

/** A build reads every row of its book, so few run at once, and books take turns. */
const builds = new Semaphore({
  at_once_max: exportLimits.pulls_built_at_once_max,
  wait_ms_max: exportLimits.pull_wait_ms_max,
  waiting_per_asker_max: exportLimits.pull_waiting_per_book_max,
});

/** Filter of the exported rows, with the property names of rows. */
export type ExportFilter = Pick<RowFilter, 'from' | 'to' | 'evidence' | 'intentId' | 'delegationHash'>;

/** Scope of an export with this filter and limit. */
export function scopeOf(book_id: number, filter: ExportFilter, limit: number | null): ExportScope {
  const { from, to, evidence, intentId, delegationHash } = filter;
  const filters = { evidence: evidence ?? null, intent_id: intentId ?? null };
  return {
    book_id,
    from: from?.toISOString() ?? null,
    to: to?.toISOString() ?? null,
    filters: delegationHash ? { ...filters, delegation_hash: delegationHash.toLowerCase() } : filters,
    limit: exportRows(limit),
  };
}

/** Options of a published export. */
export interface PublishedScope {
  readonly scope: ExportScope;
  readonly format: PullFormat;
  readonly subject_task_id: string | null;
}

type Publisher = Pick<BookContext, 'database' | 'issuer' | 'clock' | 'random' | 'base_url' | 'profile'>;

/**
 * Publishes an export of the book, or builds the published one again under the same slug. The slug is stored first, because it is
 * signed. Until the new build is stored, the earlier build is served.
 * @throws forbidden, book_damaged, rate_limited
 */
export async function publishExport(
  publisher: Publisher,
  agent_id: AgentId,
  request: PublishedScope,
): Promise<PullExport> {
  const built = await builds.take(String(agent_id), () => buildAndStore(publisher, agent_id, request));
  if (!built)
    throw new Refusal('rate_limited', { detail: 'An export of this book is already being built. Try again later.' });
  return built;
}

async function buildAndStore(
  { database, issuer, clock, random, base_url, profile }: Publisher,
  agent_id: AgentId,
  request: PublishedScope,
): Promise<PullExport> {
  const { format, subject_task_id } = request;
  const exported_at = iso(clock.now_ms());
  const slug = await takeSlug(
    database,
    agent_id,
    Buffer.from(random.bytes(SLUG_BYTES)).toString('base64url'),
    exported_at,
  );
  const { audit, csv, coverage } = await buildExport(database, {
    scope: request.scope,
    subject_task_id,
    exported_at,
    base_url,
    scan_ms_max: exportLimits.pull_scan_ms_max,
  });
  const specimen = profile === 'development';
  const signed = signedPullExport(issuer, { slug, agent_id, format, exported_at, specimen, audit, csv, coverage });
  const { complete, empty_reason } = coverage;
  const { truncated, matching_count } = pulledExtent(coverage);
  await database.query({
    name: 'store pull export',
    text: `update pull_export set exported_at = $3, row_count = $4, complete = $5, empty_reason = $6, signed = $7, csv = $8,
        truncated = $9, matching_count = $10
      where agent_id = $1 and slug = $2 and (exported_at is null or exported_at <= $3)`,
    values: [
      agent_id,
      slug,
      exported_at,
      audit.row_count,
      complete,
      empty_reason,
      signed,
      csv,
      truncated,
      matching_count,
    ],
  });
  const stands = await publishedExport(database, agent_id);
  // The owner has withdrawn the export in the meantime, and that request is the later one.
  if (stands?.slug !== slug)
    throw new Refusal('not_found', { detail: 'The export was withdrawn while it was being built.' });
  return stands;
}

/** Extent of a published export, which is sent beside its CSV. A scan that did not finish may have missed any row. */
export function pulledExtent({
  truncated,
  empty_reason,
  enumerated_count,
  omitted_by_policy_count,
}: CoveragePayload): Pick<ExportExtent, 'truncated' | 'matching_count'> {
  return {
    truncated: truncated || empty_reason === 'empty_by_drain',
    matching_count: omitted_by_policy_count === null ? null : enumerated_count + omitted_by_policy_count,
  };
}

/**
 * Returns the slug of the book's published export. If the book has none, stores and returns `slug`.
 * @throws forbidden if the book does not exist
 */
async function takeSlug(database: Database, agent_id: AgentId, slug: string, at: string): Promise<string> {
  const [taken] = await database.query<{ slug: string }>({
    name: 'take export slug',
    text: `insert into pull_export (agent_id, slug, published_at) select agent_id, $2, $3 from book where agent_id = $1
      on conflict (agent_id) do update set slug = pull_export.slug returning slug`,
    values: [agent_id, slug, at],
  });
  if (!taken) throw new Refusal('forbidden');
  return taken.slug;
}

/** Withdraws the published export. It cannot be read once this has returned. Null if nothing was published. */
export async function withdrawExport(database: Database, agent_id: AgentId): Promise<{ readonly slug: string } | null> {
  const text = 'delete from pull_export where agent_id = $1 returning slug';
  const [withdrawn] = await database.query<{ slug: string }>({ name: 'withdraw export', text, values: [agent_id] });
  return withdrawn ?? null;
}

/** Reads the published export of a book. Null if there is none. */
export function publishedExport(database: Database, agent_id: AgentId): Promise<PullExport | null> {
  return readExport(database, 'agent_id', agent_id);
}

/**
 * Reads the published export with this slug. Null if there is none or it was withdrawn.
 * @throws unavailable while the log is halted, because an older database may still have an export that was withdrawn
 */
export async function pulledExport(database: Database, slug: string): Promise<PullExport | null> {
  requireNotHalted(database);
  return readExport(database, 'slug', slug);
}

async function readExport(database: Database, column: 'agent_id' | 'slug', value: unknown): Promise<PullExport | null> {
  const text = `select ${selectList(PullExport)} from pull_export where ${column} = $1 and signed is not null`;
  const [row] = await database.query({ name: `pull export by ${column}`, text, values: [value] });
  return row ? asEntity(PullExport, row) : null;
}

/** Withdraws all exports, because an older database may have brought back one that was withdrawn. */
export async function withdrawAllExports(tx: Tx): Promise<void> {
  await tx.query('delete from pull_export');
}
