import { GraphQLJSONObject } from 'graphql-scalars';
import { Directive, Field, Int, ObjectType } from 'type-graphql';
import type { AtomicAmount } from '../../../schema/amount.ts';
import { matchingMembers } from '../../../schema/book/book-page.ts';
import { WithdrawnExportNoun } from '../../../schema/book/published-export.ts';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import { exportLimits } from '../../../schema/limits.ts';
import { ExportFilterRequest } from '../../../schema/requests/export.ts';
import { JournalAccounts } from '../../../schema/requests/journal-accounts.ts';
import { AtomicAmountScalar } from '../../../schema/scalars.ts';
import { describedBy, inputType, objectType } from '../../graph-type.ts';
import type { StreamedPiece } from './stream.ts';

@ObjectType({ description: `An export of at most ${exportLimits.rows_max} rows, in whichever form is selected.` })
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
  @Field(() => Int, { nullable: true, ...describedBy(matchingMembers.matching_count) })
  matchingCount!: number | null;
  @Field(() => AtomicAmountScalar, { nullable: true, ...describedBy(matchingMembers.matching_usdc_sum) })
  matchingUsdcSum!: AtomicAmount | null;
  @Field(() => Int, {
    nullable: true,
    description: 'Value to pass as `before` for the next older rows. Null if there are no older matching rows.',
  })
  nextBefore!: number | null;
}

inputType('BookExportFilter', 'Which rows of a book are exported: those that match every member.', ExportFilterRequest);
inputType(
  'JournalAccountNames',
  'Account names of a journal. A member that is left out has its default.',
  JournalAccounts,
);

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

export const WithdrawnExport = objectType('WithdrawnExport', 'An export that was withdrawn.', WithdrawnExportNoun);
export type WithdrawnExport = InstanceType<typeof WithdrawnExport>;
