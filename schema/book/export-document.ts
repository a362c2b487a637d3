import { z } from 'zod';
import { documents } from '../documents.ts';
import { AtomicMember, JsonMember } from '../noun.ts';
import { type WordOf, type Words, wordList } from '../words.ts';

/* Documents of an export. The verifier uses only their types, so that it does not need zod. */

/** The audit pack. In a published export the coverage says which rows it has. */
export const AuditPackNoun = z.object({
  schema: z.literal(documents.book_audit),
  agent_id: z.int(),
  /** ISO 8601. */
  exported_at: z.string(),
  row_count: z.int(),
  totals: z.object({
    usdc_sum: AtomicMember,
    count: z.int(),
    by_rail: z.record(z.string(), z.object({ count: z.int(), amount: AtomicMember })),
  }),
  /** By the names of the specification. Null if no policy is set. */
  policy: JsonMember.nullable(),
  rows: z.array(JsonMember),
  attestation_note: z.string(),
});

export const emptyReasons = {
  graph: 'EmptyReason',
  description: 'Reason why an export has no rows.',
  meanings: {
    empty_by_policy: 'The whole book was read, and no row matches.',
    empty_by_drain: 'The book was not read to its end in time.',
  },
} as const satisfies Words;
export type EmptyReason = WordOf<typeof emptyReasons>;

const hash = z.string().describe('SHA-256 of the document, in hex.');

/** The signed coverage. Counts are null if the scan did not finish. */
export const CoverageNoun = z.object({
  schema: z.literal(documents.export_coverage),
  payload_version: z.literal(1),
  book_id: z.int(),
  scope: z.object({
    book_id: z.int(),
    /** ISO 8601, `from` inclusive and `to` exclusive. Null if open. */
    from: z.string().nullable(),
    to: z.string().nullable(),
    filters: z.object({ evidence: z.string().nullable(), intent_id: z.string().nullable() }),
    limit: z.int(),
  }),
  order: z.string(),
  row_commitment: z.string(),
  enumerated_count: z.int(),
  universe_count: z.int().nullable(),
  enumerated_hash: hash.nullable(),
  universe_hash: hash.nullable(),
  hash_covers: z.string(),
  complete: z.boolean().describe('True if the document has every row of the book. If false, it has a part of them.'),
  /** True if more rows match than the limit allows. */
  truncated: z.boolean(),
  empty_reason: z.enum(wordList(emptyReasons)).nullable(),
  omitted_by_policy_count: z.int().nullable().describe('Number of matching rows that the limit leaves out.'),
  /** Number of rows that from, to, evidence or intent_id leave out. */
  filtered_out_count: z.int().nullable(),
  subject_task_id: z.string().nullable(),
  /** Whether the subject is a row of the book, enumerated or not. Null without a subject or if the scan did not finish. */
  subject_in_universe: z.boolean().nullable(),
  proves: z.string(),
  does_not_prove: z.string(),
});

export const pullFormats = {
  graph: 'PullFormat',
  description: 'Format in which a published export is signed.',
  meanings: {
    json: 'As an audit pack.',
    csv: 'As text.',
  },
} as const satisfies Words;
export type PullFormat = WordOf<typeof pullFormats>;

/** Signed members of a published export. */
export const PullSignedNoun = z.object({
  schema: z.literal(documents.book_pull_export),
  slug: z.string(),
  agent_id: z.int(),
  format: z.enum(wordList(pullFormats)),
  /** ISO 8601. */
  exported_at: z.string(),
  specimen: z.boolean().describe('True if the export was made in the development profile, where no real money moves.'),
  document_sha256: hash,
  csv_sha256: hash.describe('SHA-256 of the response with `?format=csv`, in hex.'),
  coverage_sha256: hash.describe('SHA-256 of the canonical JSON of the coverage with its signature, in hex.'),
});
