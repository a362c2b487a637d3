import { Directive, Field, Int, ObjectType } from 'type-graphql';
import type { AtomicAmount } from '../../../schema/amount.ts';
import type { SettledBy, WaivedBy } from '../../../schema/receipt-payload.ts';
import { AtomicAmountScalar, DateTimeScalar } from '../../../schema/scalars.ts';
import { FulfillmentAuthorization, FulfillmentIntent, JobKindWord, OutputCommitment } from '../../fulfillment.type.ts';
import { graphEnum } from '../../graph-enum.ts';
import type { JobKind } from '../../sale.ts';
import { NetworkWord, SettledByWord } from '../../words.ts';

/* What a receipt signs, by the shapes that the specification gives; `Receipt.preimage` is the same byte for byte. */

const WaivedByWord = graphEnum<WaivedBy>('WaivedBy', 'The kind of key that stood in for a payment.', {
  live_key: "A customer's.",
  demo_key: 'One to try the service with.',
});

@ObjectType({ description: 'Who called, as far as that is known; a key is shown by its hash alone.' })
export class CallerBinding {
  @Field(() => String, { nullable: true, description: 'Who paid.' }) payerWallet!: string | null;
  @Field(() => String, { nullable: true, description: 'The key of a delegated session.' }) agentPubkey!: string | null;
  @Field(() => String, { nullable: true, description: 'SHA-256 of the key that stood in.' }) apiKeyHash!: string | null;
}

@ObjectType({ description: 'What a paid call was for, by whom it was allowed, and what came of it.' })
export class ReceiptFulfillment {
  @Field(() => FulfillmentIntent, { description: 'What it was meant to be.' }) intent!: FulfillmentIntent;
  @Field(() => FulfillmentAuthorization, { description: 'By whom it was allowed.' })
  authorization!: FulfillmentAuthorization;
  @Field(() => OutputCommitment, { description: 'The hash of what was delivered.' })
  outputCommitment!: OutputCommitment;
}

@ObjectType({ description: 'How far a verifier may let facts drift from what is signed.' })
export class ReceiptTolerance {
  @Field(() => AtomicAmountScalar, { description: 'Of an amount.' }) amountAtomic!: AtomicAmount;
  @Field(() => Int, { description: 'Of a clock, in seconds.' }) clockSeconds!: number;
}

@ObjectType({ description: "Which snapshot of the issuer's keys held when this was signed." })
export class ReceiptIssuerHistory {
  @Field(() => String, { description: 'SHA-256 of the snapshot.' }) hash!: string;
  @Field(() => Int, { description: 'Its number.' }) version!: number;
  @Field(() => Int, { description: 'Which of its entries signed.' }) seq!: number;
}

@ObjectType({ description: 'Which receipt policy governs this receipt.' })
export class ReceiptPolicyReference {
  @Field(() => String, { description: 'SHA-256 of its canonical form.' }) hash!: string;
  @Field(() => Int, { description: 'Its number.' }) version!: number;
}

@ObjectType({ description: 'The payment of a receipt, once it had moved.' })
export class SignedPayment {
  @Field(() => String, { description: '`network:transaction`.' }) ref!: string;
  @Field(() => Int, { nullable: true, description: 'Of its Transfer in the block; null where nobody looked.' })
  transferIndex!: number | null;
  @Field(() => NetworkWord, { description: 'On which network.' }) network!: string;
  @Field(() => String, { description: 'In what it was paid.' }) rail!: string;
  @Field(() => String, { description: "The token's address." }) asset!: string;
  @Field(() => AtomicAmountScalar, { description: 'What the payer gave.' }) grossAmount!: AtomicAmount;
  @Field(() => AtomicAmountScalar, { description: 'What the payee received.' }) settledAmount!: AtomicAmount;
  @Field(() => String, { description: 'Who paid.' }) payer!: string;
  @Field(() => String, { description: 'Who was paid.' }) payTo!: string;
  @Field(() => String, { description: "The EIP-3009 nonce, Solana's message hash, or the client's own identifier." })
  paymentId!: string;
}

@ObjectType({ description: 'One of two payments that were made for the same thing.' })
export class SignedLeg {
  @Field(() => String, { description: '`payee`: to whom it was owed; `fee`: to this service.' }) leg!: string;
  @Field(() => String, { description: '`network:transaction`.' }) ref!: string;
  @Field(() => Int, { nullable: true, description: 'Of its Transfer in the block; null where nobody looked.' })
  transferIndex!: number | null;
  @Field(() => NetworkWord, { description: 'On which network.' }) network!: string;
  @Field(() => String, { description: "The token's address." }) asset!: string;
  @Field(() => String, { description: 'Who paid.' }) payer!: string;
  @Field(() => String, { description: 'Who was paid.' }) payTo!: string;
  @Field(() => AtomicAmountScalar, { description: 'What the payee received.' }) amount!: AtomicAmount;
}

@ObjectType({ description: 'A transfer as its chain has it, of a lane without a payment of ours.' })
export class SignedTransferFacts {
  @Field(() => String, { description: 'On which network: `base`, `solana` or `nano`.' }) network!: string;
  @Field(() => String, { description: 'In what it was paid: `usdc` or `xno`.' }) rail!: string;
  @Field(() => String, { description: 'The token; `XNO`.' }) asset!: string;
  @Field(() => String, { description: 'Its transaction, or the block that it is.' }) transaction!: string;
  @Field(() => Int, { nullable: true, description: 'Which of its transaction; null on Nano.' }) index!: number | null;
  @Field(() => String, { description: 'Who paid.' }) payer!: string;
  @Field(() => String, { description: 'Who was paid.' }) payTo!: string;
  @Field(() => AtomicAmountScalar, { description: 'Atomic units of the rail.' }) amount!: AtomicAmount;
}

@ObjectType({ description: 'What the work cost the issuer, and at what price it marks that.' })
export class ReceiptCogs {
  @Field(() => AtomicAmountScalar, { description: 'What was paid for it.' }) actual!: AtomicAmount;
  @Field(() => AtomicAmountScalar, { description: 'The price of a call.' }) usdMark!: AtomicAmount;
}

@ObjectType({
  description:
    'What was reported of work that others did: a generation of a router, or a completion. No payment of ours.',
})
export class ReceiptReported {
  @Field(() => String, {
    description: 'The router book by whose key it was said; or `inbound:` and the source of a completion.',
  })
  by!: string;
  @Field(() => String, { description: 'What it is called there.' }) generationId!: string;
  @Field(() => String, { description: 'How it is said to have been paid for.' }) rail!: string;
  @Field(() => AtomicAmountScalar, { description: 'What it is said to have cost: millionths of a dollar.' })
  amount!: AtomicAmount;
  @Field(() => String, { nullable: true, description: 'A payment that is said to be its own.' })
  paymentRef!: string | null;
  @Field(() => String, {
    nullable: true,
    description: 'The router that told the same before this was signed, or the network that showed the payment.',
  })
  verifiedWith!: string | null;
}

@ObjectType({ description: 'Payer and payee of a completion that was reported to the board, as they were reported.' })
export class ReceiptReportedParties {
  @Field(() => String, { description: 'The wallet that is said to have paid.' }) payer!: string;
  @Field(() => String, { description: 'The wallet that is said to have been paid.' }) payee!: string;
  @Field(() => Boolean, {
    description:
      'True if the chain had shown that transfer before the receipt was signed. False if both wallets are as the reporter named them.',
  })
  verified!: boolean;
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
  @Field(() => JobKindWord, { description: 'What kind of work.' }) jobKind!: JobKind;
  @Field(() => String, { description: 'SHA-256 of the request and a salt that its caller was told.' })
  requestHash!: string;
  @Field(() => CallerBinding, { description: 'Who called.' }) callerBinding!: CallerBinding;
  @Field(() => ReceiptFulfillment, { description: 'What was bought, and what came of it.' })
  fulfillment!: ReceiptFulfillment;
  @Field(() => ReceiptTolerance, { nullable: true, description: 'From version 9 on.' })
  tolerance!: ReceiptTolerance | null;
  @Field(() => ReceiptIssuerHistory, { nullable: true, description: 'From version 10 on.' })
  issuerHistory!: ReceiptIssuerHistory | null;
  @Field(() => ReceiptPolicyReference, { nullable: true, description: 'From version 11 on.' })
  receiptPolicy!: ReceiptPolicyReference | null;
  @Field(() => Int, { nullable: true, description: 'The agent on whose book the row stands.' }) claimId!: number | null;
  @Field(() => Int, { nullable: true, description: 'In a book chain, a lane without a payment of ours: the book.' })
  bookId!: number | null;
  @Field(() => String, { nullable: true, description: 'In a book chain, signed beside the book: what was paid.' })
  paymentRef!: string | null;
  @Field(() => SignedTransferFacts, {
    nullable: true,
    description: 'In a book chain: the transfer that was looked up.',
  })
  observedTransfer!: SignedTransferFacts | null;
  @Field(() => Boolean, {
    nullable: true,
    description: "In a book chain: whether its payer is known to be the book's.",
  })
  payerProven!: boolean | null;
  @Field(() => SignedPayment, { nullable: true, description: 'Null where nothing was paid to us.' })
  payment!: SignedPayment | null;
  @Directive('@listSize(assumedSize: 2)')
  @Field(() => [SignedLeg], { nullable: true, description: 'Where it was paid for in two: both, `payment` first.' })
  legs!: SignedLeg[] | null;
  @Field(() => SettledByWord, { nullable: true, description: 'Whether the transfer had been seen as it was signed.' })
  settlementBasis!: SettledBy | null;
  @Field(() => WaivedByWord, { nullable: true, description: 'What stood in for a payment.' })
  waivedBy!: WaivedBy | null;
  @Field(() => ReceiptReported, {
    nullable: true,
    description: 'What was reported of work that was settled elsewhere.',
  })
  reported!: ReceiptReported | null;
  @Field(() => ReceiptReportedParties, {
    nullable: true,
    description: 'Payer and payee of a reported completion. Null for all other receipts.',
  })
  reportedParties!: ReceiptReportedParties | null;
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
