import { GraphQLJSON } from 'graphql-scalars';
import { Field, InputType, Int, ObjectType } from 'type-graphql';
import type { AtomicAmount } from '../../../schema/amount.ts';
import type { Json } from '../../../schema/canonical-json.ts';
import type { DigestKind } from '../../../schema/escrow.ts';
import { AtomicAmountScalar, DateTimeScalar } from '../../../schema/scalars.ts';
import { textForm } from '../../../schema/signed-words.ts';
import {
  CommitmentStatusWord,
  DigestKindWord,
  FulfillmentAuthorization,
  FulfillmentIntent,
  JobKindWord,
  OutputCommitment,
} from '../../fulfillment.type.ts';
import type { JobKind } from '../../sale.ts';
import { ReceiptReference } from '../page/book.type.ts';

/* How the graph takes a payment to somebody else, and answers it. */

const NETWORK = '`base` or `solana`, or its CAIP-2 id; `base` where it is left out.';

@InputType({ description: 'A cemented send of XNO.' })
export class NanoSendInput {
  @Field(() => String, { description: 'Its hash: 64 hex digits.' }) block!: string;
  @Field(() => String, { description: 'The account that it was sent to.' }) recipient!: string;
  @Field(() => AtomicAmountScalar, { description: 'Raw: 10^30 of it are one XNO.' }) amount!: AtomicAmount;
  @Field(() => String, { description: 'What it was for.' }) description!: string;
}

@InputType({ description: 'What another shop asked for.' })
export class PaymentRequiredInput {
  @Field(() => String, { description: 'What was bought.' }) resource!: string;
  @Field(() => AtomicAmountScalar, { description: 'Atomic USDC.' }) amount!: AtomicAmount;
  @Field(() => String, { description: 'Whom it was paid to.' }) payTo!: string;
  @Field(() => String, { nullable: true, description: NETWORK }) network?: string | null;
  @Field(() => String, { nullable: true, description: 'USDC: its contract or mint, or its name.' })
  asset?: string | null;
}

@InputType({ description: 'A commitment to what was delivered, or why there is none.' })
export class OutputCommitmentInput {
  @Field(() => CommitmentStatusWord, { nullable: true, description: 'Whether there is a hash.' })
  status?: string | null;
  @Field(() => String, { nullable: true, description: 'In hex.' }) hash?: string | null;
  @Field(() => DigestKindWord, { nullable: true, description: 'Wanted with the hash.' }) kind?: DigestKind | null;
  @Field(() => String, { nullable: true, description: 'Why there is no hash.' }) omissionRule?: string | null;
}

@InputType({ description: 'An invoice of whoever was paid, as whoever paid has it.' })
export class ForeignInvoiceInput {
  @Field(() => AtomicAmountScalar, { description: 'Atomic USDC.' }) amount!: AtomicAmount;
  @Field(() => String, { description: 'Who paid.' }) payer!: string;
  @Field(() => String, { description: 'Whom it was paid to.' }) payTo!: string;
  @Field(() => String, { nullable: true, description: 'The transaction; this or paymentRef.' }) tx?: string | null;
  @Field(() => String, { nullable: true, description: '`network:transaction`, or the transaction alone.' })
  paymentRef?: string | null;
  @Field(() => String, { nullable: true, description: NETWORK }) network?: string | null;
  @Field(() => String, { nullable: true, description: 'USDC: its contract or mint, or its name.' })
  asset?: string | null;
  @Field(() => String, { nullable: true, description: 'What was bought.' }) resource?: string | null;
  @Field(() => String, { nullable: true, description: 'The same.' }) serviceUrl?: string | null;
  @Field(() => String, { nullable: true, description: 'Who served it.' }) hub?: string | null;
  @Field(() => String, { nullable: true, description: 'What of it, as its path there.' }) model?: string | null;
  @Field(() => JobKindWord, { nullable: true, description: '`other` where it is left out.' }) jobKind?: JobKind | null;
  @Field(() => String, { nullable: true, description: 'What was delivered, whole: its SHA-256 alone is kept.' })
  deliverable?: string | null;
  @Field(() => String, { nullable: true, description: 'Of what was delivered, in hex; with its kind.' })
  deliverableHash?: string | null;
  @Field(() => DigestKindWord, { nullable: true, description: 'By what that is hashed.' })
  deliverableKind?: DigestKind | null;
  @Field(() => OutputCommitmentInput, { nullable: true, description: 'The same as an object.' })
  outputCommitment?: OutputCommitmentInput | null;
  @Field(() => Boolean, { nullable: true, description: 'True: nothing is committed to, and that is said.' })
  omitDeliverable?: boolean | null;
  @Field(() => String, { nullable: true, description: 'The treasury intent that it serves.' }) intentId?: string | null;
  @Field(() => Int, { nullable: true, description: 'Its attempt, from 0.' }) attemptIndex?: number | null;
}

@InputType({
  description:
    'One payment to somebody else, in one of three forms: a block, an offer with its settlement, an invoice.',
})
export class ForeignSpendInput {
  @Field(() => NanoSendInput, { nullable: true, description: 'A cemented send of XNO.' }) nano?: NanoSendInput | null;
  @Field(() => PaymentRequiredInput, { nullable: true, description: 'What another shop asked for.' })
  paymentRequired?: PaymentRequiredInput | null;
  @Field(() => GraphQLJSON, {
    nullable: true,
    description: 'Its settlement header as it came (base64 or JSON), or an object {tx, payer, network, success}.',
  })
  paymentResponse?: Json;
  @Field(() => GraphQLJSON, {
    nullable: true,
    description: 'What whoever was paid has signed by the offer-receipt extension of x402: {offer, receipt}.',
  })
  offerReceipt?: Json;
  @Field(() => ForeignInvoiceInput, { nullable: true, description: 'An invoice.' })
  foreignInvoice?: ForeignInvoiceInput | null;
  @Field(() => ForeignInvoiceInput, { nullable: true, description: 'The same.' })
  fulfillmentInvoice?: ForeignInvoiceInput | null;
  @Field(() => Int, { nullable: true, description: 'Which transfer of its transaction, where several would do.' })
  transferIndex?: number | null;
  @Field(() => String, {
    nullable: true,
    description: `Signature over ${textForm('ingest')}, of a payer that the book does not know.`,
  })
  payerSignature?: string | null;
  @Field(() => Int, { nullable: true, description: 'The Unix seconds in that text; within 300 seconds.' })
  payerSignatureTimestamp?: number | null;
}

@ObjectType({ description: 'A payment to somebody else, as it was observed on its chain.' })
export class IngestedPayment {
  @Field(() => String, { description: '`network:transaction`.' }) ref!: string;
  @Field(() => String, { description: '`usdc` or `xno`.' }) rail!: string;
  @Field(() => AtomicAmountScalar, { description: 'Atomic units of the rail.' }) amount!: AtomicAmount;
  @Field(() => Boolean, { description: 'Whether it counts on the book: its payer is proven.' }) collected!: boolean;
}

@ObjectType({ description: 'What was bought, and of whom, as whoever paid says it.' })
export class IngestedRoute {
  @Field(() => String, { nullable: true, description: 'Who served it.' }) hub!: string | null;
  @Field(() => String, { nullable: true, description: 'What of it.' }) model!: string | null;
  @Field(() => String, { nullable: true, description: 'Where.' }) resource!: string | null;
}

@ObjectType({ description: 'What was delivered for a payment to somebody else, in the form of a paid job.' })
export class IngestedFulfillment {
  @Field(() => FulfillmentIntent, { description: 'What it was meant to be.' }) intent!: FulfillmentIntent;
  @Field(() => FulfillmentAuthorization, { description: 'Who paid, and how.' })
  authorization!: FulfillmentAuthorization;
  @Field(() => OutputCommitment, { description: 'What is committed to.' }) outputCommitment!: OutputCommitment;
}

@ObjectType({ description: 'Says that this service has recorded it, and nothing for whoever was paid.' })
export class RecordedSignature {
  @Field(() => String, { description: 'Its algorithm, as JOSE names it.' }) alg!: string;
  @Field(() => String, { description: '`recorded`.' }) scope!: string;
  @Field(() => String, {
    description: 'Over the canonical JSON of the REST answer without it and issuer_signature, base64url.',
  })
  value!: string;
}

@ObjectType({ description: 'A payment to somebody else that stands on a book now.' })
export class IngestedSpend {
  @Field(() => String, { description: 'Of the row and its receipt.' }) taskId!: string;
  @Field(() => Int, { description: 'Whose book.' }) agentId!: number;
  @Field(() => IngestedPayment, { description: 'As its chain has it.' }) payment!: IngestedPayment;
  @Field(() => Boolean, {
    nullable: true,
    description:
      'Whether the payer is proven to belong to this book. If false, the amount counts in no sum of the book. Null for an ingest that was recorded before this member was introduced.',
  })
  payerProven!: boolean | null;
  @Field(() => String, {
    nullable: true,
    description:
      'Text for the wallet that paid to sign, with its last part replaced by the current Unix seconds. Send the signature as payerSignature in another ingest of the same transfer: its row then replaces this one. Null if the payer is proven.',
  })
  payerText!: string | null;
  @Field(() => IngestedRoute, { description: 'What it bought.' }) route!: IngestedRoute;
  @Field(() => String, { description: 'The public page of its receipt.' }) verifyUrl!: string;
  @Field(() => Boolean, { description: 'Always true.' }) foreignX402!: boolean;
  @Field(() => String, { description: '`foreign_ingest`.' }) source!: string;
  @Field(() => String, { description: '`foreign_ingest`.' }) evidence!: string;
  @Field(() => IngestedFulfillment, { description: 'What was delivered.' }) fulfillment!: IngestedFulfillment;
  @Field(() => DateTimeScalar, { description: 'When it was recorded.' }) recordedAt!: Date;
  @Field(() => RecordedSignature, { nullable: true, description: 'By a published key of this service.' })
  signature!: RecordedSignature | null;
  @Field(() => ReceiptReference, { description: 'The signed receipt of the row.' }) receipt!: ReceiptReference;
}
