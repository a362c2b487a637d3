import { z } from 'zod';
import { matchingMembers, PendingSum, spendingMembers } from '../../schema/book/book-page.ts';
import { BookExportNoun, PublishedExportNoun, WithdrawnExportNoun } from '../../schema/book/export.ts';
import { AuditPackNoun, CoverageNoun, PullSignedNoun } from '../../schema/book/export-document.ts';
import { type ExportField, exportFields } from '../../schema/export-row.ts';
import { IssuerSignatureNoun } from '../../schema/receipt-shapes.ts';
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
const AuditPack = AuditPackNoun.extend({ rows: z.array(ExportedRow) });

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

const CoverageAnswer = CoverageNoun.extend({ issuer_signature: IssuerSignatureNoun });

const { document_sha256, csv_sha256, coverage_sha256, ...named } = PullSignedNoun.shape;

export const PullExportAnswer = z.object({
  ...named,
  url: z.string(),
  verify_jwks: z.string(),
  document_sha256,
  document_sha256_rule: z.string(),
  document_media_type: z.string(),
  csv_sha256,
  coverage_sha256,
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
