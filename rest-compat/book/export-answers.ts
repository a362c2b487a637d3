import { z } from 'zod';
import { matchingMembers, PendingSum, spendingMembers } from '../../schema/book/book-page.ts';
import { BookExportNoun, PublishedExportNoun, WithdrawnExportNoun } from '../../schema/book/export.ts';
import { AuditPackNoun, CoverageNoun, PullSignedNoun } from '../../schema/book/export-document.ts';
import { type ExportField, exportFields } from '../../schema/export-row.ts';
import { IssuerSignatureNoun } from '../../schema/receipt-shapes.ts';
import { Atomic, JsonMembers, nameComponents } from '../answer-shapes.ts';

/* Responses of the export endpoints. */

const Replay = z.object({
  replay_of: z.string().describe('Task id of the call whose payment was sent again.'),
  settlement_status: z.string().describe('Always `idempotent_replay`.'),
  recorded_at: z
    .string()
    .describe('Time of the replay or, if the entry combines several, of the last one (RFC 3339, UTC).'),
  first_at: z
    .string()
    .optional()
    .describe('Time of the first replay (RFC 3339, UTC), if the entry combines several. Absent otherwise.'),
  count: z.int().optional().describe('Number of replays that the entry combines. Absent if it is one.'),
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

/** The document of a published export, whose coverage states the number of rows. */
const AuditPack = AuditPackNoun.extend({ rows: z.array(ExportedRow).describe('Rows of the export, oldest first.') });

export const BookAuditAnswer = AuditPack.extend({
  totals: AuditPack.shape.totals
    .extend({ pending_usdc_sum: PendingSum })
    .describe('Sums over the rows of this response that have an amount.'),
  ...spendingMembers,
  row_count: z.int().describe('Number of rows in this response.'),
  truncated: BookExportNoun.shape.truncated,
  ...matchingMembers,
  next: z.string().nullable().describe('URL of the next older rows. Null if there are no older matching rows.'),
  totals_cover: z
    .literal('rows_shown')
    .describe('Rows that `totals` covers: always `rows_shown`, the rows in this response.'),
});

const CoverageAnswer = CoverageNoun.extend({
  issuer_signature: IssuerSignatureNoun.describe('Signature of the issuer over all other members of the coverage.'),
});

const { document_sha256, csv_sha256, coverage_sha256, ...named } = PullSignedNoun.shape;

export const PullExportAnswer = z.object({
  ...named,
  url: z.string().describe('URL of the published export.'),
  verify_jwks: z.string().describe('URL of the public keys (JWK Set) that verify the signatures.'),
  document_sha256,
  document_sha256_rule: z.string().describe('Rule by which `document_sha256` is computed, in words.'),
  document_media_type: z.string().describe('Media type of `document`, such as `application/json`.'),
  csv_sha256,
  coverage_sha256,
  document: z
    .union([AuditPack, z.string()])
    .describe('The published document: an object if `format` is `json`, a text if it is `csv`.'),
  coverage: CoverageAnswer.describe('Statement of the rows that the export covers, signed by the issuer.'),
  issuer_signature: IssuerSignatureNoun.extend({
    issuer_jwk: JsonMembers.describe('Public key that verifies the signature (JWK).'),
  }).describe(
    'Signature of the issuer (`jws`) over schema, slug, agent_id, format, exported_at, specimen, document_sha256, csv_sha256 and coverage_sha256.',
  ),
  pull_note: z.string().describe('Note on what the export proves, in sentences.'),
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
