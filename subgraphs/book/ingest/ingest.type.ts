import { Field, ObjectType } from 'type-graphql';
import {
  IngestedPaymentNoun,
  IngestedRouteNoun,
  IngestedSpendNoun,
  RecordedSignatureNoun,
} from '../../../schema/ingest.ts';
import type { MembersOf } from '../../../schema/noun.ts';
import { IngestRequest } from '../../../schema/requests/ingest.ts';
import {
  ForeignCommitment,
  ForeignInvoice,
  ForeignOffer,
  NanoSend,
  SaidCommitment,
} from '../../../schema/requests/ingest-members.ts';
import { FulfillmentAuthorization, FulfillmentIntent, OutputCommitment } from '../../fulfillment.type.ts';
import { inputType, objectType, showMembers } from '../../graph-type.ts';
import { ReceiptReference } from '../page/book.type.ts';

/* How the graph takes a payment to somebody else, and answers it. */

inputType('NanoSendInput', 'A cemented send of XNO.', NanoSend);
inputType('PaymentRequiredInput', 'What another shop asked for.', ForeignOffer);
inputType(
  'OutputCommitmentInput',
  'A commitment to what was delivered, or why there is none.',
  ForeignCommitment,
  SaidCommitment,
);
inputType('ForeignInvoiceInput', 'An invoice of the party that was paid, as the payer has it.', ForeignInvoice);
export const ForeignSpendInput = inputType(
  'ForeignSpendInput',
  'One payment to somebody else, in one of three forms: a block, an offer with its settlement, an invoice.',
  IngestRequest,
);

objectType('IngestedPayment', 'A payment to somebody else, as it was observed on its chain.', IngestedPaymentNoun);
objectType('IngestedRoute', 'What was bought, and of whom, as the payer says it.', IngestedRouteNoun);
objectType(
  'RecordedSignature',
  'Says that this service has recorded the payment, and nothing for the party that was paid.',
  RecordedSignatureNoun,
);

@ObjectType({ description: 'What was delivered for a payment to somebody else, in the form of a paid job.' })
export class IngestedFulfillment {
  @Field(() => FulfillmentIntent, { description: 'What the job was meant to be.' }) intent!: FulfillmentIntent;
  @Field(() => FulfillmentAuthorization, { description: 'Who paid, and how.' })
  authorization!: FulfillmentAuthorization;
  @Field(() => OutputCommitment, { description: 'What is committed to.' }) outputCommitment!: OutputCommitment;
}

const Spend = class {} as new () => MembersOf<typeof IngestedSpendNoun>;

@ObjectType({ description: 'A payment to somebody else that stands on a book now.' })
export class IngestedSpend extends Spend {
  @Field(() => IngestedFulfillment, { description: 'What was delivered.' }) fulfillment!: IngestedFulfillment;
  @Field(() => ReceiptReference, { description: 'The signed receipt of the row.' }) receipt!: ReceiptReference;
}
showMembers(IngestedSpend, IngestedSpendNoun);
