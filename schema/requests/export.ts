import { z } from 'zod';
import { pullFormats } from '../book/export-document.ts';
import { evidences } from '../evidence.ts';
import { exportLimits, INT_MAX, limits } from '../limits.ts';
import { word } from '../noun.ts';
import { type WordOf, type Words, wordList } from '../words.ts';
import { RowFilterMembers, Seq } from './book.ts';
import { accountMembers, JournalAccounts } from './journal-accounts.ts';
import { pageLimit } from './page-limit.ts';
import { PossessionMembers } from './possession.ts';
import { storedText } from './text.ts';

/* Requests for exports: the rows, their number, and the format. */

/** Clamped when the rows are read, because a publish request under an Idempotency-Key is identified by the number that was sent. */
const limit = pageLimit({
  of: 'rows',
  default: exportLimits.rows_max,
  max: exportLimits.rows_max,
  clamped_to: INT_MAX,
  note: 'The newest rows that match are returned.',
});

/** A whole number like the `seq` of a book's rows. The URL in `next` contains it. */
export const ExportBefore = Seq.describe(
  'Returns only rows with a seq lower than this. For the next page, on the graph pass `nextBefore`, by REST request the URL in `next`. Default: starts at the newest row.',
);

export function exportRows(limit: number | null | undefined): number {
  return Math.min(limit ?? exportLimits.rows_max, exportLimits.rows_max);
}

const { from, to, intent_id, delegation_hash } = RowFilterMembers;
const evidence = RowFilterMembers.evidence.describe(
  `Only rows with this evidence: ${wordList(evidences).join(', ')}. Default: all.`,
);
/** Members of a row filter that a signed coverage states. */
const signedFilter = { from, to, evidence, intent_id };
/** Members of a row filter if no coverage is signed. */
const rowFilter = { ...signedFilter, delegation_hash };

/** The filter on the graph. A published export refuses the member that its coverage does not sign. */
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
    'Format of the export: `csv` (default), `json`, `html`, or `bundle`, a zip archive with the audit pack and everything that is needed to check it offline: the receipt or refusal of each row, keys, histories, and proofs of the log.',
  );

const page = { limit, before: ExportBefore.optional() };

/** Page of an export. REST has the members of `filter` beside the others. */
export const ExportPageRequest = z.strictObject({ filter, ...page });

/** Body of POST /v1/agents/{agent_id}/book/export. Possession is checked before the body is parsed. */
export const ExportRequest = PossessionMembers.extend({
  format: Format,
  ...rowFilter,
  ...page,
}).strict();
/** Query of GET /v1/agents/{agent_id}/book/export. */
export const ExportQuery = withoutPossession(ExportRequest);

const published = {
  format: word(pullFormats)
    .optional()
    .describe('Format of the document that is signed: `json` or `csv`. Default: `json`.'),
  subject_task_id: storedText
    .max(limits.row_name_chars_max)
    .optional()
    .describe('Task id of a row: the signed coverage then states whether the book has that row. Default: none.'),
};

/** Rows and format of a published export. REST has the members of `filter` beside the others. */
export const PublishedPageRequest = z.strictObject({ ...published, filter, limit });

/**
 * Body of POST /v1/agents/{agent_id}/book/export/publish. Possession is checked before the body is parsed. An unknown member is refused,
 * because a misspelled filter would publish rows that it should exclude.
 */
export const PublishRequest = PossessionMembers.extend({
  ...published,
  ...signedFilter,
  limit,
}).strict();

/** A published export in a path. */
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
    parquet: 'Apache Parquet, a binary format for tables.',
  },
} as const satisfies Words;
export type StreamFormat = WordOf<typeof streamFormats>;

const stream = {
  format: word(streamFormats)
    .optional()
    .describe('Format of the export: `csv`, `ndjson` or `parquet`. Default: `csv`.'),
  after: Seq.optional().describe(
    'Returns only rows with a seq greater than this: the seq of the last row already received. Default: 0, which starts at the first row.',
  ),
};

/** A complete export. REST has the members of `filter` beside the others. */
export const StreamRequest = z.strictObject({ ...stream, filter });
/** Body of POST /v1/agents/{agent_id}/book/export/stream. */
export const StreamBody = PossessionMembers.extend({ ...stream, ...rowFilter }).strict();
/** Query of GET /v1/agents/{agent_id}/book/export/stream. */
export const StreamQuery = withoutPossession(StreamBody);

export const journalFormats = {
  graph: 'JournalFormat',
  description: 'File format of a journal: the spend of a book as accounting entries.',
  meanings: {
    csv: 'CSV for accounting software, with a header line.',
    ledger: 'Plain text that the programs ledger and hledger read.',
  },
} as const satisfies Words;
export type JournalFormat = WordOf<typeof journalFormats>;
export const journalUnits = {
  graph: 'JournalUnit',
  description: 'What one entry of a journal covers.',
  meanings: {
    row: 'One entry for each row with an amount. If the amount was removed later, a second entry reverses it.',
    day: 'One entry for each combination of UTC day, rail, status and kind of spend.',
  },
} as const satisfies Words;
export type JournalUnit = WordOf<typeof journalUnits>;

const journal = {
  format: word(journalFormats)
    .optional()
    .describe('Format of the journal: `csv`, or `ledger`, which ledger and hledger read. Default: `csv`.'),
  per: word(journalUnits)
    .optional()
    .describe(
      '`row`: one entry for each row with an amount, and a second one that reverses it if the amount was removed later; the default. `day`: one entry for each combination of UTC day, rail, status and kind of spend.',
    ),
};

/** A journal without its filter: the accounts are members beside the others. */
export const JournalRequest = z.object({ ...journal, ...accountMembers });
/** The same request as arguments on the graph. */
export const JournalArgumentsRequest = z.strictObject({
  ...journal,
  accounts: JournalAccounts.optional().describe('Names of the accounts. Default: the default name of each account.'),
  filter,
});
/** Body of POST /v1/agents/{agent_id}/book/export/journal. */
export const JournalBody = PossessionMembers.extend({ ...journal, ...accountMembers, ...rowFilter }).strict();
/** Query of GET /v1/agents/{agent_id}/book/export/journal. */
export const JournalQuery = withoutPossession(JournalBody);

/** A GET has no body, so its possession is proven in headers. */
function withoutPossession<S extends z.ZodRawShape>(body: z.ZodObject<S>) {
  return body.omit({ session: true, proof: true } as never) as z.ZodObject<Omit<S, 'session' | 'proof'>>;
}
