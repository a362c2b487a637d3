import { Field, ObjectType } from 'type-graphql';
import { CorrectionRequest, InflowRequest } from '../../../schema/requests/inflow.ts';
import { inputType } from '../../graph-type.ts';
import { BookRow } from '../ledger/row.entity.ts';

export const InflowInput = inputType('InflowInput', 'What is set aside: a claim, and no payment.', InflowRequest);
export const InflowCorrectionInput = inputType(
  'InflowCorrectionInput',
  'What is corrected of an inflow, or of an earlier correction of it.',
  CorrectionRequest,
);

@ObjectType({ description: 'An inflow and what was appended to correct it.' })
export class CorrectedInflow {
  @Field(() => BookRow, { description: 'The inflow itself, with all of its corrections.' }) row!: BookRow;
  @Field(() => BookRow, { description: 'The row of this correction.' }) correction!: BookRow;
  @Field(() => Boolean, {
    description:
      'True if the same correction of the same row had already been recorded. The existing row is returned and no row is added.',
  })
  idempotentReplay!: boolean;
}
