import { Directive, Field, Int, ObjectType } from 'type-graphql';
import type { AtomicAmount } from '../../../schema/amount.ts';
import { FulfillmentNoun } from '../../../schema/fulfillment.ts';
import { jobKindWords } from '../../../schema/job-kind.ts';
import { type SettledBy, type WaivedBy, waivers } from '../../../schema/receipt-payload.ts';
import {
  CallerBindingNoun,
  IssuerHistoryReferenceNoun,
  PolicyReferenceNoun,
  ReportedNoun,
  ReportedPartiesNoun,
  SignedLegNoun,
  SignedPaymentNoun,
  ToleranceNoun,
  TransferFactsNoun,
} from '../../../schema/receipt-shapes.ts';
import { AtomicAmountScalar, DateTimeScalar } from '../../../schema/scalars.ts';
import '../../fulfillment.type.ts';
import { wordEnum } from '../../graph-enum.ts';
import { objectType } from '../../graph-type.ts';
import type { JobKind } from '../../sale.ts';
import { SettledByWord } from '../../words.ts';

/* What a receipt signs, by the shapes that the specification gives; `Receipt.preimage` is the same byte for byte. */

const WaivedByWord = wordEnum(waivers);

export const CallerBinding = objectType(
  'CallerBinding',
  'Who called, as far as that is known. An API key is shown by its hash alone.',
  CallerBindingNoun,
);
export const ReceiptTolerance = objectType(
  'ReceiptTolerance',
  'How far a verifier may let facts drift from what is signed.',
  ToleranceNoun,
);
export const ReceiptIssuerHistory = objectType(
  'ReceiptIssuerHistory',
  "Which snapshot of the issuer's keys held when this was signed.",
  IssuerHistoryReferenceNoun,
);
export const ReceiptPolicyReference = objectType(
  'ReceiptPolicyReference',
  'Which receipt policy governs this receipt.',
  PolicyReferenceNoun,
);
export const SignedPayment = objectType(
  'SignedPayment',
  'The payment of a receipt, once it had moved.',
  SignedPaymentNoun,
);
export const SignedLeg = objectType(
  'SignedLeg',
  'One of two payments that were made for the same thing.',
  SignedLegNoun,
);
export const SignedTransferFacts = objectType(
  'SignedTransferFacts',
  'A transfer as its chain has it, of a lane without a payment of this service.',
  TransferFactsNoun,
);
export const ReceiptReported = objectType(
  'ReceiptReported',
  'What was reported of work that others did: a generation of a router, or a completion. No payment of this service.',
  ReportedNoun,
);
export const ReceiptReportedParties = objectType(
  'ReceiptReportedParties',
  'Payer and payee of a completion that was reported to the board, as they were reported.',
  ReportedPartiesNoun,
);

const ReceiptFulfillment = objectType(
  'ReceiptFulfillment',
  'What a paid call was for, who allowed it, and what came of it.',
  FulfillmentNoun,
);

@ObjectType({ description: 'What the work cost the issuer, and at what price it marks that.' })
export class ReceiptCogs {
  @Field(() => AtomicAmountScalar, { description: 'What was paid for it.' }) actual!: AtomicAmount;
  @Field(() => AtomicAmountScalar, { description: 'The price of a call.' }) usdMark!: AtomicAmount;
}

@ObjectType('ReceiptPayload', {
  description: 'What is signed and stands in the log. What does not apply, or its version does not sign, is null.',
})
export class SignedPayload {
  @Field(() => String, { description: 'The name of the document.' }) schema!: string;
  @Field(() => Int, { description: 'Of the payload: 8 to 11, or 4 of a book chain.' }) payloadVersion!: number;
  @Field(() => String, { description: 'The task that it is of.' }) taskId!: string;
  @Field(() => DateTimeScalar, { description: 'When it was signed.' }) issuedAt!: Date;
  @Field(() => String, { description: 'The hub that answered.' }) hub!: string;
  @Field(() => String, { description: 'Model that the hub was asked for, or what else was sold. See answeredModel.' })
  model!: string;
  @Field(() => wordEnum(jobKindWords), { description: 'What kind of work.' }) jobKind!: JobKind;
  @Field(() => String, { description: 'SHA-256 of the request and a salt that its caller was told.' })
  requestHash!: string;
  @Field(() => CallerBinding, { description: 'Who called.' }) callerBinding!: InstanceType<typeof CallerBinding>;
  @Field(() => ReceiptFulfillment, { description: 'What was bought, and what came of it.' })
  fulfillment!: InstanceType<typeof ReceiptFulfillment>;
  @Field(() => ReceiptTolerance, { nullable: true, description: 'From version 9 on.' })
  tolerance!: InstanceType<typeof ReceiptTolerance> | null;
  @Field(() => ReceiptIssuerHistory, { nullable: true, description: 'From version 10 on.' })
  issuerHistory!: InstanceType<typeof ReceiptIssuerHistory> | null;
  @Field(() => ReceiptPolicyReference, { nullable: true, description: 'From version 11 on.' })
  receiptPolicy!: InstanceType<typeof ReceiptPolicyReference> | null;
  @Field(() => Int, { nullable: true, description: 'The agent on whose book the row stands.' }) claimId!: number | null;
  @Field(() => Int, { nullable: true, description: 'In a book chain, a lane without a payment of ours: the book.' })
  bookId!: number | null;
  @Field(() => String, { nullable: true, description: 'In a book chain, signed beside the book: what was paid.' })
  paymentRef!: string | null;
  @Field(() => SignedTransferFacts, {
    nullable: true,
    description: 'In a book chain: the transfer that was looked up.',
  })
  observedTransfer!: InstanceType<typeof SignedTransferFacts> | null;
  @Field(() => Boolean, {
    nullable: true,
    description: "In a book chain: whether its payer is known to be the book's.",
  })
  payerProven!: boolean | null;
  @Field(() => SignedPayment, { nullable: true, description: 'Null where nothing was paid to us.' })
  payment!: InstanceType<typeof SignedPayment> | null;
  @Directive('@listSize(assumedSize: 2)')
  @Field(() => [SignedLeg], { nullable: true, description: 'Where it was paid for in two: both, `payment` first.' })
  legs!: InstanceType<typeof SignedLeg>[] | null;
  @Field(() => SettledByWord, {
    nullable: true,
    description: 'Whether the transfer had been seen as it was signed.',
  })
  settlementBasis!: SettledBy | null;
  @Field(() => WaivedByWord, { nullable: true, description: 'What stood in for a payment.' })
  waivedBy!: WaivedBy | null;
  @Field(() => ReceiptReported, {
    nullable: true,
    description: 'What was reported of work that was settled elsewhere.',
  })
  reported!: InstanceType<typeof ReceiptReported> | null;
  @Field(() => ReceiptReportedParties, {
    nullable: true,
    description: 'Payer and payee of a reported completion. Null for all other receipts.',
  })
  reportedParties!: InstanceType<typeof ReceiptReportedParties> | null;
  @Field(() => String, { nullable: true, description: 'The delegated session that it was paid under, or done in.' })
  delegationHash!: string | null;
  @Field(() => Int, { nullable: true, description: 'From when on that session serves: Unix seconds.' })
  validAfter!: number | null;
  @Field(() => Int, { nullable: true, description: 'From when on it is over.' }) sessionExpiry!: number | null;
  @Field(() => String, { nullable: true, description: 'Of a receipt that was handed on: of which one it was made.' })
  parentReceiptId!: string | null;
  @Field(() => Int, { nullable: true, description: 'And which agent it was made for.' }) targetAgent!: number | null;
  @Field(() => String, { nullable: true, description: 'The treasury intent that it names.' }) intentId!: string | null;
  @Field(() => Int, { nullable: true, description: 'Which attempt within that intent, from 0.' })
  attemptIndex!: number | null;
  @Field(() => String, {
    nullable: true,
    description: 'Model that the hub named in its answer. Null if it named none, and under receipt policies 1 to 8.',
  })
  answeredModel!: string | null;
  @Field(() => String, {
    nullable: true,
    description:
      "Id of the hub's catalogue that `answeredModel` names, by its configuration when this was signed: `model` if `answeredModel` is a configured alias of it, or the id of another model. Null if it names none, and if it is `model` or a version of it.",
  })
  answeredCatalogueModel!: string | null;
  @Field(() => Boolean, {
    nullable: true,
    description:
      'This service added nothing that says who asks. What the caller wrote for the model was put into the form that the hub takes; members without effect were left out. Text of the caller that names the caller reached the hub.',
  })
  vendorBlind!: boolean | null;
  @Field(() => ReceiptCogs, { nullable: true, description: 'Where a price is known.' })
  providerCogs!: ReceiptCogs | null;
  @Field(() => String, { nullable: true, description: '`development`, where stand-ins were in use.' })
  profile!: string | null;
}
