import type { CoverageNoun } from './book/export-document.ts';
import type { JsonObject } from './canonical-json.ts';
import { sha256Hex } from './digest.ts';
import { documents } from './documents.ts';
import type { DocumentOf } from './noun.ts';

/*
 * What an export says of its own completeness: which rows stand in it, out of which there are. Whoever builds one and
 * whoever verifies one read the rules here.
 */

/** What a row's commitment is of, in this order. */
const committed = ['task_id', 'evidence', 'amount', 'payment_ref', 'collected_at'] as const;

/** The rules in words, as they stand in the document: a stranger recomputes both hashes by them. */
export const coverageRules = {
  order: 'collected_at then task_id',
  row_commitment: `SHA-256 over ${committed.join(', ')} joined by a pipe; null is the empty string`,
  hash_covers:
    'enumerated_hash covers the rows of this document, universe_hash every row of the book as it stood at that moment: ' +
    'SHA-256 over the row commitments (lower-case hex) in order, joined by a line feed',
  proves:
    'That the issuer, when it signed this, held a book of universe_count rows with that universe_hash, and that the rows ' +
    'enumerated here are those of it that the scope names, as far as its limit goes.',
  does_not_prove:
    'That any row was paid (look its payment_ref up on the chain), or that rows which were appended later are included.',
} as const;

/** Its filters may name a delegation. In a coverage they never do: what is signed of them are the other two. */
export type ExportScope = CoveragePayload['scope'] & {
  /** Left out where it narrows nothing. */
  readonly filters: { readonly delegation_hash?: string };
};

/** What is signed as the coverage; `issuer_signature` stands beside it. */
export type CoveragePayload = DocumentOf<typeof CoverageNoun>;

/** Lower-case hex. */
export function rowCommitment(row: JsonObject): string {
  return sha256Hex(committed.map(name => row[name] ?? '').join('|'));
}

/** Of commitments in order; of none it is the hash of nothing. */
export function commitmentsHash(commitments: readonly string[]): string {
  return sha256Hex(commitments.join('\n'));
}

/** What a scan of the whole book found. */
export interface ScannedUniverse {
  readonly universe_count: number;
  readonly universe_hash: string;
  /** Rows that the scope's from, to and filters let pass. */
  readonly matching_count: number;
  readonly subject_in_universe: boolean;
}

/** The coverage of `rows`, which stand in order. `scanned` null: the scan did not finish, and there are no rows then. */
export function coveragePayload(
  scope: ExportScope,
  rows: readonly JsonObject[],
  scanned: ScannedUniverse | null,
  subject_task_id: string | null,
): CoveragePayload {
  const counted = scanned && {
    omitted: scanned.matching_count - rows.length,
    filtered: scanned.universe_count - scanned.matching_count,
  };
  return {
    schema: documents.export_coverage,
    payload_version: 1,
    book_id: scope.book_id,
    scope,
    order: coverageRules.order,
    row_commitment: coverageRules.row_commitment,
    enumerated_count: rows.length,
    universe_count: scanned?.universe_count ?? null,
    enumerated_hash: scanned && commitmentsHash(rows.map(rowCommitment)),
    universe_hash: scanned?.universe_hash ?? null,
    hash_covers: coverageRules.hash_covers,
    complete: scanned !== null && rows.length === scanned.universe_count,
    truncated: (counted?.omitted ?? 0) > 0,
    empty_reason: scanned === null ? 'empty_by_drain' : rows.length === 0 ? 'empty_by_policy' : null,
    omitted_by_policy_count: counted?.omitted ?? null,
    filtered_out_count: counted?.filtered ?? null,
    subject_task_id,
    subject_in_universe: subject_task_id === null ? null : (scanned?.subject_in_universe ?? null),
    proves: coverageRules.proves,
    does_not_prove: coverageRules.does_not_prove,
  };
}
