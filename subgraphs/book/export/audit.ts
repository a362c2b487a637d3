import type { AuditPackNoun } from '../../../schema/book/export-document.ts';
import { isJsonObject, type JsonObject } from '../../../schema/canonical-json.ts';
import { documents } from '../../../schema/documents.ts';
import type { Evidence } from '../../../schema/evidence.ts';
import type { DocumentOf } from '../../../schema/noun.ts';
import type { BookPolicy } from '../../../schema/policy-kinds.ts';
import type { ExportedPage } from './read.ts';

/** The audit pack, `svc402.book_audit.v1`. */
export type BookAudit = Omit<DocumentOf<typeof AuditPackNoun>, 'policy' | 'rows'> & {
  readonly policy: JsonObject | null;
  readonly rows: readonly JsonObject[];
};

/**
 * Extent of an export: the number and sum of all matching rows, of which the export may show only a part. It is shown beside the
 * members of the audit pack and is not signed.
 */
export interface ExportExtent extends JsonObject {
  /** True if the export lacks newer or older matching rows. */
  readonly truncated: boolean;
  /** Number of all matching rows. Null if finding it would require reading too many rows. */
  readonly matching_count: number | null;
  /** Sum of all matching rows in atomic USDC. Null if finding it would require reading too many rows. */
  readonly matching_usdc_sum: string | null;
  /** URL of the page with the next older rows. Null if there are none. */
  readonly next: string | null;
  readonly totals_cover: typeof ROWS_SHOWN;
}

/** Value of `totals_cover`: the totals cover only the rows of the export. */
export const ROWS_SHOWN = 'rows_shown';

export function exportExtent({ rows, matching, newer, next_before }: ExportedPage, next: string | null): ExportExtent {
  const others = next_before !== null || newer;
  return {
    truncated: matching.count === null ? others : rows.length < matching.count,
    matching_count: matching.count,
    matching_usdc_sum: matching.usdc_sum?.toString() ?? null,
    next,
    totals_cover: ROWS_SHOWN,
  };
}

/** Extent as headers, for formats that have no place for it. Unknown values are absent. */
export function extentHeaders({
  truncated,
  matching_count,
}: Pick<ExportExtent, 'truncated' | 'matching_count'>): Record<string, string> {
  return {
    'x-svc-truncated': String(truncated),
    ...(matching_count !== null && { 'x-svc-matching-count': String(matching_count) }),
  };
}

export type ExportTotals = BookAudit['totals'];

/**
 * Sum of the rows whose transfer has not been seen yet. It is beside the totals of the pack, because a published export signs
 * those.
 */
export function pendingOf(rows: readonly JsonObject[]) {
  const pending = rows.filter(({ evidence }) => evidence === ('RECORDED_BY_SETTLE' satisfies Evidence));
  return { pending_usdc_sum: exportTotals(pending).usdc_sum };
}

const ATTESTATION =
  'Rows are shown as this service recorded them. Totals count only rows that carry an amount: what a policy blocked, what ' +
  'never arrived (ARRIVAL_UNVERIFIED, amount null), a payment to somebody else whose payer is not proven (foreign_ingest, ' +
  'amount null), and what was reported or called by key (UNVERIFIED), which this service did not settle, is visible and in ' +
  'no total. A row is not proof that money moved: verify its receipt at verify_url and look its payment up at explorer_url.';

export function bookAudit(
  agent_id: number,
  {
    exported_at,
    policy,
    rows,
  }: { readonly exported_at: string; readonly policy: BookPolicy; readonly rows: readonly JsonObject[] },
): BookAudit {
  return {
    schema: documents.book_audit,
    agent_id,
    exported_at,
    row_count: rows.length,
    totals: exportTotals(rows),
    policy: isJsonObject(policy) && Object.keys(policy).length > 0 ? policy : null,
    rows,
    attestation_note: ATTESTATION,
  };
}

/** Totals by the rule of the book's counters: over rows with an amount, by rail. */
export function exportTotals(rows: readonly JsonObject[]): ExportTotals {
  const rails = new Map<string, { count: number; amount: bigint }>();
  for (const { rail, amount } of rows) {
    if (typeof amount !== 'string' || typeof rail !== 'string') continue;
    const before = rails.get(rail) ?? { count: 0, amount: 0n };
    rails.set(rail, { count: before.count + 1, amount: before.amount + BigInt(amount) });
  }
  const by_rail = [...rails].map(([rail, { count, amount }]) => [rail, { count, amount: amount.toString() }] as const);
  return {
    usdc_sum: (rails.get('usdc')?.amount ?? 0n).toString(),
    count: [...rails.values()].reduce((sum, { count }) => sum + count, 0),
    by_rail: Object.fromEntries(by_rail),
  };
}
