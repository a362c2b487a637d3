import { GraphQLJSONObject } from 'graphql-scalars';
import { Directive, Field, InputType, Int, ObjectType } from 'type-graphql';
import type { AtomicAmount } from '../../../schema/amount.ts';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import type { Evidence } from '../../../schema/evidence.ts';
import { limits } from '../../../schema/limits.ts';
import { accountDescriptions } from '../../../schema/requests/journal-accounts.ts';
import { AtomicAmountScalar, DateTimeScalar } from '../../../schema/scalars.ts';
import { EvidenceWord } from '../ledger/row-words.ts';
import type { ExportFilter } from './publish.ts';
import type { StreamedPiece } from './stream.ts';

const READ = limits.matching_rows_read_max.toLocaleString('en');

@ObjectType({ description: 'An export of at most 200 rows, in whichever form is selected.' })
export class BookExport {
  @Directive('@cost(weight: 2000)')
  @Field(() => GraphQLJSONObject, { description: 'The audit pack as JSON: svc402.book_audit.v1.' })
  document!: JsonObject;
  @Directive('@cost(weight: 500)')
  @Field(() => String, { description: 'The rows as CSV, under a line of names.' })
  csv!: string;
  @Directive('@cost(weight: 500)')
  @Field(() => String, { description: 'A page for print.' })
  html!: string;
  @Directive('@cost(weight: 4000)')
  @Field(() => String, {
    description:
      'A zip archive in base64: the audit pack, the receipt or refusal of each row, the keys and histories of the issuer, and proofs that each receipt stands in the log.',
  })
  bundle!: string;
  @Field(() => Boolean, { description: 'True if some matching rows, older or newer, are not in this response.' })
  truncated!: boolean;
  @Field(() => Int, {
    nullable: true,
    description: `Number of rows of the book that match the filter, including rows that are not in this response. Null if counting them would require reading more than ${READ} rows.`,
  })
  matchingCount!: number | null;
  @Field(() => AtomicAmountScalar, {
    nullable: true,
    description:
      'Sum of the amounts of all matching rows on the rail usdc, in atomic USDC (6 decimals). Rows on other rails are counted but not summed. Null if matchingCount is null.',
  })
  matchingUsdcSum!: AtomicAmount | null;
  @Field(() => Int, {
    nullable: true,
    description: 'Value to pass as `before` for the next older rows. Null if there are no older matching rows.',
  })
  nextBefore!: number | null;
}

@InputType({ description: 'Which rows of a book are exported: those of which all that is said here is true.' })
export class BookExportFilter implements ExportFilter {
  @Field(() => DateTimeScalar, { nullable: true, description: 'Collected at this moment or later.' })
  from?: Date | null;
  @Field(() => DateTimeScalar, { nullable: true, description: 'Collected before this moment.' })
  to?: Date | null;
  @Field(() => EvidenceWord, { nullable: true, description: 'Resting on this.' })
  evidence?: Evidence | null;
  @Field(() => String, { nullable: true, description: 'Of this treasury intent.' })
  intentId?: string | null;
  @Field(() => String, {
    nullable: true,
    description:
      'Only rows of calls that were made under the session with this delegation hash. A published export does not take this filter.',
  })
  delegationHash?: string | null;
}

@InputType({ description: 'Account names of a journal. A member that is left out has its default.' })
export class JournalAccountNames {}
for (const [account, description] of Object.entries(accountDescriptions))
  Field(() => String, { nullable: true, description })(JournalAccountNames.prototype, account);

@ObjectType({ description: 'A piece of an export of a whole book, in order.' })
export class BookExportPiece {
  @Field(() => String, { nullable: true, description: 'Text of the export; null where it is of bytes.' })
  text!: string | null;
  @Field(() => String, { nullable: true, description: 'Bytes of the export, in base64; null where it is of text.' })
  base64!: string | null;
  @Field(() => Int, { description: 'How many rows have gone out with it.' })
  rowsDone!: number;
  @Field(() => Int, { description: 'How many rows there will be.' })
  rowsTotal!: number;
  @Field(() => Int, { description: 'Of the last row so far: `after` of whoever goes on.' })
  lastSeq!: number;
}

export function exportPiece({ text, bytes, rows_done, rows_total, last_seq }: StreamedPiece): BookExportPiece {
  const base64 = bytes && Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
  return { text, base64, rowsDone: rows_done, rowsTotal: rows_total, lastSeq: last_seq };
}

@ObjectType({ description: 'An export that was withdrawn.' })
export class WithdrawnExport {
  @Field(() => Int, { description: 'Whose book.' })
  agentId!: number;
  @Field(() => String, { description: 'The slug that it had, which is nobody’s now.' })
  slug!: string;
  @Field(() => DateTimeScalar, { description: 'When it was withdrawn.' })
  withdrawnAt!: Date;
}
