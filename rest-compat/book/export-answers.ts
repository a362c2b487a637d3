import { z } from 'zod';
import { matchingMembers, PendingSum, spendingMembers } from '../../schema/book/book-page.ts';
import { BookExportNoun, PublishedExportNoun, WithdrawnExportNoun } from '../../schema/book/export.ts';
import { documents } from '../../schema/documents.ts';
import { emptyReasons } from '../../schema/export-coverage.ts';
import { type ExportField, exportFields } from '../../schema/export-row.ts';
import { pullFormats } from '../../schema/pull-export.ts';
import { IssuerSignatureNoun } from '../../schema/receipt-shapes.ts';
import { wordList } from '../../schema/words.ts';
import { Atomic, JsonMembers, nameComponents } from '../answer-shapes.ts';

/* What the export doors answer, as it looks on the wire. */

const Replay = z.object({
  replay_of: z.string(),
  settlement_status: z.string(),
  recorded_at: z.string(),
  first_at: z.string().optional(),
  count: z.int().optional(),
});

const types = {
  text: z.string(),
  digits: Atomic,
  integer: z.int(),
  time: z.string(),
  json: JsonMembers,
  json_list: z.array(JsonMembers),
} as const satisfies Record<ExportField['type'], z.ZodType>;

const members = Object.entries<ExportField>(exportFields).map(([name, { type, nullable, description }]) => {
  const value = name === 'replay_events' ? z.array(Replay) : types[type];
  const member: z.ZodType = nullable ? value.nullable() : value;
  return [name, description === undefined ? member : member.describe(description)] as const;
});

const ExportedRow = z.object(Object.fromEntries(members));

/** As it stands in a published export, which says in its coverage of how many rows. */
const AuditPack = z.object({
  schema: z.literal(documents.book_audit),
  agent_id: z.int(),
  exported_at: z.string(),
  row_count: z.int(),
  totals: z.object({
    usdc_sum: Atomic,
    count: z.int(),
    by_rail: z.record(z.string(), z.object({ count: z.int(), amount: Atomic })),
  }),
  policy: JsonMembers.nullable(),
  rows: z.array(ExportedRow),
  attestation_note: z.string(),
});

export const BookAuditAnswer = AuditPack.extend({
  totals: AuditPack.shape.totals.extend({ pending_usdc_sum: PendingSum }),
  ...spendingMembers,
  row_count: z.int().describe('Rows of this answer.'),
  truncated: BookExportNoun.shape.truncated,
  ...matchingMembers,
  next: z.string().nullable().describe('URL of the next older rows. Null if there are no older matching rows.'),
  totals_cover: z
    .literal('rows_shown')
    .describe('Rows that `totals` covers: always `rows_shown`, the rows in this response.'),
});

const hash = z.string().describe('SHA-256, hex.');

const CoverageAnswer = z.object({
  schema: z.literal(documents.export_coverage),
  payload_version: z.literal(1),
  book_id: z.int(),
  scope: z.object({
    book_id: z.int(),
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
  complete: z.boolean().describe('Every row of the book stands here; false: a window of it.'),
  truncated: z.boolean(),
  empty_reason: z.enum(wordList(emptyReasons)).nullable(),
  omitted_by_policy_count: z.int().nullable().describe('Rows that matched, and that the limit left out.'),
  filtered_out_count: z.int().nullable(),
  subject_task_id: z.string().nullable(),
  subject_in_universe: z.boolean().nullable(),
  proves: z.string(),
  does_not_prove: z.string(),
  issuer_signature: IssuerSignatureNoun,
});

export const PullExportAnswer = z.object({
  schema: z.literal(documents.book_pull_export),
  slug: z.string(),
  agent_id: z.int(),
  format: z.enum(wordList(pullFormats)),
  exported_at: z.string(),
  specimen: z.boolean().describe('Made in the development profile, where no real money moves.'),
  url: z.string(),
  verify_jwks: z.string(),
  document_sha256: hash,
  document_sha256_rule: z.string(),
  document_media_type: z.string(),
  csv_sha256: hash.describe('SHA-256 of what `?format=csv` answers, hex.'),
  coverage_sha256: hash.describe('SHA-256 of the canonical coverage with its signature, hex.'),
  document: z.union([AuditPack, z.string()]),
  coverage: CoverageAnswer,
  issuer_signature: IssuerSignatureNoun.extend({ issuer_jwk: JsonMembers }),
  pull_note: z.string(),
});

nameComponents({
  ExportedRow,
  BookAudit: BookAuditAnswer,
  PublishedBookAudit: AuditPack,
  ExportCoverage: CoverageAnswer,
  PullExport: PullExportAnswer,
  PublishedExport: PublishedExportNoun,
  WithdrawnExport: WithdrawnExportNoun,
});
