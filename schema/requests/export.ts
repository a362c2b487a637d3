import { z } from 'zod';
import { exportLimits, limits } from '../limits.ts';
import { pullFormats } from '../pull-export.ts';
import { type WordOf, type Words, wordList } from '../words.ts';
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
  format: z.enum(wordList(pullFormats)).optional().describe('Of the document that is signed; json unless told.'),
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

export const streamFormats = {
  graph: 'BookStreamFormat',
  description: 'In which form a whole book goes out.',
  meanings: {
    csv: 'Lines under a line of names (RFC 4180).',
    ndjson: 'A JSON object a line, and at the end one that says how many there were.',
    parquet: 'Apache Parquet, as bytes.',
  },
} as const satisfies Words;
export type StreamFormat = WordOf<typeof streamFormats>;

/** The seq of the last row that the reader of a stream has. */
export const AfterRow = Seq.describe('The seq of the last row that the reader has; 0 begins.');

/** Query and body of /v1/agents/{agent_id}/book/export/stream. */
export const streamQuery = {
  format: z.enum(wordList(streamFormats)).optional().describe('csv unless told.'),
  after: AfterRow.optional(),
};
export const StreamRequest = z.object(streamQuery);
/** The same with what narrows the rows. */
export const filteredStreamQuery = { ...streamQuery, ...rowFilter };

export const journalFormats = {
  graph: 'JournalFormat',
  description: 'In which form a journal goes out.',
  meanings: {
    csv: 'Lines for an accountant, under a line of names.',
    ledger: 'As ledger and hledger read it.',
  },
} as const satisfies Words;
export type JournalFormat = WordOf<typeof journalFormats>;
export const journalUnits = {
  graph: 'JournalUnit',
  description: 'What an entry of a journal is for.',
  meanings: {
    row: 'One entry for each row.',
    day: 'One entry for each combination of UTC day, rail, status and kind of spend.',
  },
} as const satisfies Words;
export type JournalUnit = WordOf<typeof journalUnits>;

/** Query and body of /v1/agents/{agent_id}/book/export/journal. */
export const journalQuery = {
  format: z
    .enum(wordList(journalFormats))
    .optional()
    .describe('csv unless told; `ledger` is read by ledger and hledger.'),
  per: z
    .enum(wordList(journalUnits))
    .optional()
    .describe(
      '`row`: one entry for each row; the default. `day`: one entry for each combination of UTC day, rail, status and kind of spend.',
    ),
  ...accountMembers,
};
export const JournalRequest = z.object(journalQuery);
export const filteredJournalQuery = { ...journalQuery, ...rowFilter };
