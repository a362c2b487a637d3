import { z } from 'zod';
import { computedMember, JsonMember, TimeMember, wordText } from '../noun.ts';
import { matchingMembers } from './book-page.ts';
import { emptyReasons } from './export-document.ts';

/* Exports of a book as they are shown: as one document, in pieces, or published. */

/** An export of a page of rows, in each of its forms. */
export const BookExportNoun = z.object({
  document: JsonMember.describe(
    'Audit pack (JSON, svc402.book_audit.v1): the rows, their sums and the policies of the book.',
  ).meta({ cost: 2000 }),
  csv: z.string().describe('Rows as CSV, after a header line.').meta({ cost: 500 }),
  html: z.string().describe('HTML page of the rows, for printing.').meta({ cost: 500 }),
  bundle: z
    .string()
    .describe(
      'Zip archive in base64: the audit pack, the receipt or refusal of each row, the keys and histories of the issuer, and proofs that the log contains each receipt.',
    )
    .meta({ cost: 4000 }),
  truncated: z.boolean().describe('True if some matching rows, older or newer, are not in this response.'),
  ...matchingMembers,
  next_before: z
    .int()
    .nullable()
    .describe('Value to pass as `before` for the next older rows. Null if there are no older matching rows.'),
});

/** A piece of an export of a whole book. */
export const ExportPieceNoun = z.object({
  text: z.string().nullable().describe('Text of the piece. Null if the format is binary (`parquet`).'),
  base64: z.string().nullable().describe('Bytes of the piece, in base64. Null if the format is text.'),
  rows_done: z
    .int()
    .describe('Number of rows sent so far, including this piece. A resumed export counts from 0 again.'),
  rows_total: z.int().describe('Number of rows that the whole export will have.'),
  last_seq: z.int().describe('The seq of the last row that was examined so far. Pass it as `after` to resume.'),
});

const agent_id = z.int().describe('Id of the agent whose book it is.');

export const PublishedExportNoun = z.object({
  agent_id,
  slug: z
    .string()
    .describe(
      'Random slug by which anybody can read the export: GET /public/export/{slug}. After a withdrawal, the next publication gets a new slug.',
    ),
  url: computedMember(z.string().describe('Public URL of the export.')),
  published_at: TimeMember.describe('Time the export was first published under this slug (RFC 3339, UTC).'),
  exported_at: TimeMember.describe('Time the export that is served was built (RFC 3339, UTC).'),
  row_count: z.int().describe('Number of rows in the export.'),
  complete: z.boolean().describe('True if every row of the book is in the export.'),
  truncated: z
    .boolean()
    .nullable()
    .describe(
      'True if matching rows are missing from the export, because of `limit` or because the build ran out of time. Null for an export that was built before this was recorded.',
    ),
  matching_count: z
    .int()
    .nullable()
    .describe(
      'Number of rows that match the filter, including those left out of the export. Null if the build ran out of time, or was before this was recorded.',
    ),
  empty_reason: wordText(emptyReasons)
    .nullable()
    .describe(
      'Why the export has no rows: `empty_by_policy` (none matches) or `empty_by_drain` (the scan did not finish). Null if it has rows.',
    ),
});

/** Public members of a published export. */
export const PublicExportNoun = PublishedExportNoun.extend({
  signed: z.string().describe('The signed document (svc402.book_pull_export.v1), byte for byte as it was signed.'),
  csv: z.string().describe('Rows of the export, as CSV text.'),
});

export const WithdrawnExportNoun = z.object({
  agent_id,
  slug: z.string().describe('Slug of the withdrawn export. It is not used again.'),
  withdrawn_at: TimeMember.describe('Time the export was withdrawn (RFC 3339, UTC).'),
});
