import type { CoverageNoun } from './book/export-document.ts';
import type { JsonObject } from './canonical-json.ts';
import { sha256Hex } from './digest.ts';
import { documents } from './documents.ts';
import type { DocumentOf } from './noun.ts';

/* Coverage of an export: how many rows of the book it has, and by which rules. The issuer and the verifier share these rules. */

/** Fields that the commitment of a row covers, in this order. */
const committed = ['task_id', 'evidence', 'amount', 'payment_ref', 'collected_at'] as const;

/** The rules in words, as the document states them, so that a reader can recompute both hashes. */
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

/** Scope of an export. Its filters may name a delegation, but a signed coverage never does. */
export type ExportScope = CoveragePayload['scope'] & {
  /** Absent if rows are not filtered by session. */
  readonly filters: { readonly delegation_hash?: string };
};

/** The signed members of a coverage. `issuer_signature` is beside them. */
export type CoveragePayload = DocumentOf<typeof CoverageNoun>;

/** Commitment of a row, in lower-case hex. */
export function rowCommitment(row: JsonObject): string {
  return sha256Hex(committed.map(name => row[name] ?? '').join('|'));
}

/** Hash over commitments in order. For none, the hash of the empty string. */
export function commitmentsHash(commitments: readonly string[]): string {
  return sha256Hex(commitments.join('\n'));
}

/** Result of a scan of the whole book. */
export interface ScannedUniverse {
  readonly universe_count: number;
  readonly universe_hash: string;
  /** Number of rows that match from, to and the filters of the scope. */
  readonly matching_count: number;
  readonly subject_in_universe: boolean;
}

/** Coverage of `rows`, which are in order. If the scan did not finish, `scanned` is null and there are no rows. */
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
