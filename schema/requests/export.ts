import { z } from 'zod';
import { pullFormats } from '../book/export-document.ts';
import { exportLimits, INT_MAX, limits } from '../limits.ts';
import { word } from '../noun.ts';
import type { WordOf, Words } from '../words.ts';
import { RowFilterMembers, Seq } from './book.ts';
import { accountMembers, JournalAccounts } from './journal-accounts.ts';
import { pageLimit } from './page-limit.ts';
import { PossessionMembers } from './possession.ts';
import { storedText } from './text.ts';

/* Requests for exports: the rows, their number, and the format. */

/** Clamped where the rows are read: under an Idempotency-Key a request to publish is known by the number that was sent. */
const limit = pageLimit({
  of: 'rows',
  default: exportLimits.rows_max,
  max: exportLimits.rows_max,
  clamped_to: INT_MAX,
  note: 'The newest rows that match are returned.',
});

/** Of `next` in the answer before: it is a whole number as those of a book's pages are. */
export const ExportBefore = Seq.describe(
  'Returns only rows with a seq lower than this. Default: starts at the newest row. The URL in `next` has it set for the next page.',
);

export function exportRows(limit: number | null | undefined): number {
  return Math.min(limit ?? exportLimits.rows_max, exportLimits.rows_max);
}

const { from, to, evidence, intent_id, delegation_hash } = RowFilterMembers;
/** Which rows of a book: those of its members that a coverage tells of. */
const signedFilter = { from, to, evidence, intent_id };
/** The same where no coverage is signed. */
const rowFilter = { ...signedFilter, delegation_hash };

/** As the graph has it, where a published export refuses what its coverage does not sign. */
export const ExportFilterRequest = z.strictObject({
  ...signedFilter,
  delegation_hash: delegation_hash.describe(
    `${delegation_hash.description} A published export does not take this filter.`,
  ),
});
const filter = ExportFilterRequest.optional().describe('Filter of the rows. Default: all rows.');

export const exportFormats = ['csv', 'json', 'html', 'bundle'] as const;
export type ExportFormat = (typeof exportFormats)[number];
const Format = z
  .enum(exportFormats)
  .optional()
  .describe(
    'Default: csv. `bundle` is a zip archive with the audit pack and all that it can be checked by offline: the receipt or refusal of each row, keys, histories, and proofs of the log.',
  );

const page = { limit, before: ExportBefore.optional() };

/** A page of an export. By REST the members of `filter` stand beside the others. */
export const ExportPageRequest = z.strictObject({ filter, ...page });

/** Body of POST /v1/agents/{agent_id}/book/export; possession in it was looked at before. */
export const ExportRequest = PossessionMembers.extend({
  format: Format,
  ...rowFilter,
  ...page,
}).strict();
/** Its query. */
export const ExportQuery = withoutPossession(ExportRequest);

const published = {
  format: word(pullFormats).optional().describe('Form of the document that is signed. Default: `json`.'),
  subject_task_id: storedText
    .max(limits.row_name_chars_max)
    .optional()
    .describe('Task id of a row of which the coverage says whether the book has it. Default: none.'),
};

/** What is published. By REST the members of `filter` stand beside the others. */
export const PublishedPageRequest = z.strictObject({ ...published, filter, limit });

/**
 * Body of POST /v1/agents/{agent_id}/book/export/publish; possession in it was looked at before. A member that is not
 * known is refused: a filter that was misspelt would publish the rows that it was to leave out.
 */
export const PublishRequest = PossessionMembers.extend({
  ...published,
  ...signedFilter,
  limit,
}).strict();

/** Which published export, in a path. */
export const PullExportPath = z.object({
  slug: z
    .string()
    .max(limits.id_chars_max)
    .describe('Slug of the published export. The owner of the book passes it on.'),
});

export const streamFormats = {
  graph: 'BookStreamFormat',
  description: 'Format of an export of a whole book.',
  meanings: {
    csv: 'CSV with a header line (RFC 4180).',
    ndjson: 'One JSON object per line. The last line states the number of rows.',
    parquet: 'Apache Parquet, as bytes.',
  },
} as const satisfies Words;
export type StreamFormat = WordOf<typeof streamFormats>;

const stream = {
  format: word(streamFormats).optional().describe('Format of the export. Default: `csv`.'),
  after: Seq.optional().describe(
    'Returns only rows with a seq greater than this: the seq of the last row already received. 0 starts at the first row.',
  ),
};

/** A whole export. By REST the members of `filter` stand beside the others. */
export const StreamRequest = z.strictObject({ ...stream, filter });
/** Body of /v1/agents/{agent_id}/book/export/stream. */
export const StreamBody = PossessionMembers.extend({ ...stream, ...rowFilter }).strict();
/** Its query. */
export const StreamQuery = withoutPossession(StreamBody);

export const journalFormats = {
  graph: 'JournalFormat',
  description: 'Format of a journal.',
  meanings: {
    csv: 'CSV for accounting software, with a header line.',
    ledger: 'Text that ledger and hledger read.',
  },
} as const satisfies Words;
export type JournalFormat = WordOf<typeof journalFormats>;
export const journalUnits = {
  graph: 'JournalUnit',
  description: 'What one entry of a journal covers.',
  meanings: {
    row: 'One entry for each row.',
    day: 'One entry for each combination of UTC day, rail, status and kind of spend.',
  },
} as const satisfies Words;
export type JournalUnit = WordOf<typeof journalUnits>;

const journal = {
  format: word(journalFormats)
    .optional()
    .describe('Format of the journal. Default: `csv`. `ledger` is read by ledger and hledger.'),
  per: word(journalUnits)
    .optional()
    .describe(
      '`row`: one entry for each row; the default. `day`: one entry for each combination of UTC day, rail, status and kind of spend.',
    ),
};

/** A journal, but for its rows: the accounts stand beside the other members. */
export const JournalRequest = z.object({ ...journal, ...accountMembers });
/** The same as arguments. */
export const JournalArgumentsRequest = z.strictObject({
  ...journal,
  accounts: JournalAccounts.optional().describe('Names of the accounts. Default: the default name of each account.'),
  filter,
});
/** Body of /v1/agents/{agent_id}/book/export/journal. */
export const JournalBody = PossessionMembers.extend({ ...journal, ...accountMembers, ...rowFilter }).strict();
/** Its query. */
export const JournalQuery = withoutPossession(JournalBody);

/** Headers show possession of a book where nothing has a body. */
function withoutPossession<S extends z.ZodRawShape>(body: z.ZodObject<S>) {
  return body.omit({ session: true, proof: true } as never) as z.ZodObject<Omit<S, 'session' | 'proof'>>;
}
