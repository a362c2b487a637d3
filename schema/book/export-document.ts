import { z } from 'zod';
import { documents } from '../documents.ts';
import { AtomicMember, JsonMember } from '../noun.ts';
import { type WordOf, type Words, wordList } from '../words.ts';

/* Documents of an export. The verifier uses only their types, so that it does not need zod. */

/** The audit pack. In a published export the coverage says which rows it has. */
export const AuditPackNoun = z.object({
  schema: z.literal(documents.book_audit).describe(`Always \`${documents.book_audit}\`.`),
  agent_id: z.int().describe('Id of the agent whose book it is.'),
  exported_at: z.string().describe('Time of the export (ISO 8601, UTC).'),
  row_count: z.int().describe('Number of rows in the document.'),
  totals: z
    .object({
      usdc_sum: AtomicMember.describe('Sum of the amounts on the rail usdc, in atomic USDC (6 decimals).'),
      count: z.int().describe('Number of rows in the document that have an amount.'),
      by_rail: z
        .record(
          z.string(),
          z.object({
            count: z.int().describe('Number of rows with an amount on this rail.'),
            amount: AtomicMember.describe(
              'Sum of these amounts, in atomic units of the rail: 6 decimals of USDC, 30 of XNO.',
            ),
          }),
        )
        .describe('Sums by rail. Rails have different units.'),
    })
    .describe('Sums over the rows of the document that have an amount.'),
  policy: JsonMember.nullable().describe('Policies of the book by type. Null if none is set.'),
  rows: z.array(JsonMember).describe('Rows of the document.'),
  attestation_note: z.string().describe('Statement of what the document attests to.'),
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

const hash = z.string();

/** The signed coverage. Counts are null if the scan did not finish. */
export const CoverageNoun = z.object({
  schema: z.literal(documents.export_coverage).describe(`Always \`${documents.export_coverage}\`.`),
  payload_version: z.literal(1).describe('Version of the signed members. Always 1.'),
  book_id: z.int().describe('Id of the agent whose book it is.'),
  scope: z
    .object({
      book_id: z.int().describe('Id of the agent whose book it is.'),
      from: z
        .string()
        .nullable()
        .describe('Start of the exported period, inclusive (ISO 8601). Null if it has no start.'),
      to: z.string().nullable().describe('End of the exported period, exclusive (ISO 8601). Null if it has no end.'),
      filters: z
        .object({
          evidence: z
            .string()
            .nullable()
            .describe('Only rows with this evidence were exported. Null if rows were not filtered by it.'),
          intent_id: z
            .string()
            .nullable()
            .describe('Only rows of this intent were exported. Null if rows were not filtered by it.'),
        })
        .describe('Filters of the rows. A member that is null does not filter.'),
      limit: z.int().describe('Maximum number of rows in the document. If more match, it has the newest.'),
    })
    .describe('Rows that the request asked for: book, period, filters and maximum number.'),
  order: z.string().describe('Order of the rows: by `collected_at`, then by `task_id`.'),
  row_commitment: z.string().describe('Rule for the commitment of a row, in words: a SHA-256 over five of its fields.'),
  enumerated_count: z.int().describe('Number of rows in the document.'),
  universe_count: z
    .int()
    .nullable()
    .describe('Number of all rows of the book. Null if the scan of the book did not finish.'),
  enumerated_hash: hash
    .nullable()
    .describe(
      'SHA-256 over the commitments of the rows of the document, in hex. Null if the scan of the book did not finish.',
    ),
  universe_hash: hash
    .nullable()
    .describe(
      'SHA-256 over the commitments of all rows of the book, in hex. Null if the scan of the book did not finish.',
    ),
  hash_covers: z.string().describe('Rule for `enumerated_hash` and `universe_hash`, in words.'),
  complete: z
    .boolean()
    .describe(
      'True if the document has every row of the book. False if rows are left out, or if the scan of the book did not finish.',
    ),
  truncated: z
    .boolean()
    .describe('True if more rows match than `limit` allows. False also if the scan of the book did not finish.'),
  empty_reason: z
    .enum(wordList(emptyReasons))
    .nullable()
    .describe(
      'Why there are no rows: `empty_by_policy` (none matches) or `empty_by_drain` (the scan did not finish). Null if there are rows.',
    ),
  omitted_by_policy_count: z
    .int()
    .nullable()
    .describe('Number of matching rows that `limit` leaves out. Null if the scan of the book did not finish.'),
  filtered_out_count: z
    .int()
    .nullable()
    .describe(
      'Number of rows of the book that do not match from, to, evidence or intent_id. Null if the scan of the book did not finish.',
    ),
  subject_task_id: z.string().nullable().describe('Task id that the request asked about. Null if it asked about none.'),
  subject_in_universe: z
    .boolean()
    .nullable()
    .describe(
      'Whether the book has a row with `subject_task_id`, in the document or not. Null without `subject_task_id`, or if the scan of the book did not finish.',
    ),
  proves: z.string().describe('What the coverage proves, in a sentence.'),
  does_not_prove: z.string().describe('What the coverage does not prove, in a sentence.'),
});

export const pullFormats = {
  graph: 'PullFormat',
  description: 'Format in which a published export is signed.',
  meanings: {
    json: 'The document is an audit pack in JSON.',
    csv: 'The document is CSV text.',
  },
} as const satisfies Words;
export type PullFormat = WordOf<typeof pullFormats>;

/** Signed members of a published export. */
export const PullSignedNoun = z.object({
  schema: z.literal(documents.book_pull_export).describe(`Always \`${documents.book_pull_export}\`.`),
  slug: z.string().describe('Slug of the export, which is the last part of its URL.'),
  agent_id: z.int().describe('Id of the agent whose book it is.'),
  format: z.enum(wordList(pullFormats)).describe('Format of `document`: `json` or `csv`.'),
  exported_at: z.string().describe('Time the export was built (ISO 8601, UTC).'),
  specimen: z.boolean().describe('True if the export was made in the development profile, where no real money moves.'),
  document_sha256: hash.describe(
    'SHA-256 of `document`, in hex: of its canonical JSON (RFC 8785) or, if `format` is `csv`, of its text.',
  ),
  csv_sha256: hash.describe('SHA-256 of the response with `?format=csv`, in hex.'),
  coverage_sha256: hash.describe('SHA-256 of the canonical JSON of the coverage with its signature, in hex.'),
});
