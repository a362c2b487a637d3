import { z } from 'zod';
import { exportLimits, limits } from '../limits.ts';
import { pullFormats } from '../pull-export.ts';
import { RowFilterMembers, Seq } from './book.ts';
import { accountMembers } from './journal-accounts.ts';
import { PossessionMembers } from './possession.ts';
import { storedText } from './text.ts';

/* What an export is asked for: which rows, how many, and in which form. */

const LIMIT_BOUNDS = `is a whole number from 1 to ${exportLimits.rows_max}; a larger one is clamped`;

/** A larger number is clamped, not refused. */
export const ExportLimit = z
  .int({ error: LIMIT_BOUNDS })
  .min(1, { error: LIMIT_BOUNDS })
  .describe(`Rows, the newest ones; default ${exportLimits.rows_max}, more than that is clamped.`);

/** The same where it stands alone, so that a refusal names it. */
export const ExportSize = z.object({ limit: ExportLimit.nullish() });

/** Of `next` in the answer before: it is a whole number as those of a book's pages are. */
export const ExportBefore = Seq.describe(
  'Returns only rows with a seq lower than this. Default: starts at the newest row. The URL in `next` has it set for the next page.',
);
export const ExportPage = z.object({ before: ExportBefore.nullish() });

export function exportRows(limit: number | null | undefined): number {
  return Math.min(limit ?? exportLimits.rows_max, exportLimits.rows_max);
}

const { from, to, evidence, intent_id, delegation_hash } = RowFilterMembers;
/** Which rows of a book: those of its members that a coverage tells of. */
const signedFilter = { from, to, evidence, intent_id };
/** The same where no coverage is signed. */
const rowFilter = { ...signedFilter, delegation_hash };

export const exportFormats = ['csv', 'json', 'html', 'bundle'] as const;
export type ExportFormat = (typeof exportFormats)[number];
const Format = z
  .enum(exportFormats)
  .optional()
  .describe(
    'Default: csv. `bundle` is a zip archive with the audit pack and all that it can be checked by offline: the receipt or refusal of each row, keys, histories, and proofs of the log.',
  );

/** Query of GET /v1/agents/{agent_id}/book/export, but for its limit and `before`, which are text there. */
export const exportQuery = { format: Format, ...rowFilter };

/** Body of POST /v1/agents/{agent_id}/book/export; possession in it was looked at before. */
export const ExportRequest = PossessionMembers.extend({
  ...exportQuery,
  limit: ExportLimit.optional(),
  before: ExportBefore.optional(),
}).strict();

/** What of a publication is no row's: the same by REST and on the graph. */
export const PublishMembers = z.object({
  format: z.enum(pullFormats).optional().describe('Of the document that is signed; json unless told.'),
  subject_task_id: storedText
    .max(limits.row_name_chars_max)
    .optional()
    .describe('A row of which the coverage says whether the book has it.'),
});

/**
 * Body of POST /v1/agents/{agent_id}/book/export/publish; possession in it was looked at before. A member that is not
 * known is refused: a filter that was misspelt would publish the rows that it was to leave out.
 */
export const PublishRequest = PossessionMembers.extend({
  ...PublishMembers.shape,
  ...signedFilter,
  limit: ExportLimit.optional(),
}).strict();

export const streamFormats = ['csv', 'ndjson', 'parquet'] as const;
export type StreamFormat = (typeof streamFormats)[number];

/** The seq of the last row that the reader of a stream has. */
export const AfterRow = Seq.describe('The seq of the last row that the reader has; 0 begins.');

/** Query and body of /v1/agents/{agent_id}/book/export/stream. */
export const streamQuery = {
  format: z.enum(streamFormats).optional().describe('csv unless told.'),
  after: AfterRow.optional(),
};
export const StreamRequest = z.object(streamQuery);
/** The same with what narrows the rows. */
export const filteredStreamQuery = { ...streamQuery, ...rowFilter };

export const journalFormats = ['csv', 'ledger'] as const;
export type JournalFormat = (typeof journalFormats)[number];
export const journalUnits = ['row', 'day'] as const;
export type JournalUnit = (typeof journalUnits)[number];

/** Query and body of /v1/agents/{agent_id}/book/export/journal. */
export const journalQuery = {
  format: z.enum(journalFormats).optional().describe('csv unless told; `ledger` is read by ledger and hledger.'),
  per: z
    .enum(journalUnits)
    .optional()
    .describe(
      '`row`: one entry for each row; the default. `day`: one entry for each combination of UTC day, rail, status and kind of spend.',
    ),
  ...accountMembers,
};
export const JournalRequest = z.object(journalQuery);
export const filteredJournalQuery = { ...journalQuery, ...rowFilter };
