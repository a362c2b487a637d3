import { GraphQLJSONObject } from 'graphql-scalars';
import { Directive, Field, InputType, Int, ObjectType } from 'type-graphql';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import type { Evidence } from '../../../schema/evidence.ts';
import { DateTimeScalar } from '../../../schema/scalars.ts';
import { EvidenceWord } from '../ledger/row-words.ts';
import type { ExportFilter } from './publish.ts';
import type { StreamedPiece } from './stream.ts';

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
}

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
