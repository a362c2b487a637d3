import { Field, InputType, Int, ObjectType } from 'type-graphql';
import type { AtomicAmount } from '../../../schema/amount.ts';
import type { SettledBy } from '../../../schema/receipt-payload.ts';
import { AtomicAmountScalar, DateTimeScalar } from '../../../schema/scalars.ts';

import { graphEnum } from '../../graph-enum.ts';
import { NetworkWord, SettledByWord } from '../../words.ts';
import { CitedReceipt } from '../receipt.type.ts';

/* How the graph takes a completion from elsewhere, and answers it. */

/** What is known of the payment of a completion. */
export type CompletionEvidence = 'foreign_ingest' | 'UNVERIFIED';

const CompletionEvidenceWord = graphEnum<CompletionEvidence>(
  'CompletionEvidence',
  'What is known of the payment of a completion from elsewhere.',
  {
    foreign_ingest: 'Its chain showed it before this was recorded.',
    UNVERIFIED: 'Nothing but what was said.',
  },
);

@InputType({ description: 'What was completed elsewhere.' })
export class CompletionInput {
  @Field(() => String, { description: 'Where it was completed.' }) source!: string;
  @Field(() => String, { description: 'Its id there.' }) externalId!: string;
  @Field(() => String, { description: 'Who is said to have paid.' }) payer!: string;
  @Field(() => String, { description: 'Who is said to have been paid.' }) payee!: string;
  @Field(() => AtomicAmountScalar, { description: 'Atomic USDC.' }) amount!: AtomicAmount;
  @Field(() => String, { nullable: true, description: '`network:transaction`, or the transaction alone.' })
  paymentRef?: string | null;
  @Field(() => String, { nullable: true, description: 'The same.' }) paymentTx?: string | null;
  @Field(() => String, { nullable: true, description: '`base` or `solana`; `base` where it is left out.' })
  network?: string | null;
  @Field(() => String, { description: 'SHA-256 of what was delivered, as it is said.' }) outputHash!: string;
}

@ObjectType({ description: 'The payment of a completion, as its chain showed it.' })
export class CompletionTransfer {
  @Field(() => NetworkWord, { description: 'On which network.' }) network!: string;
  @Field(() => String, { description: 'Its transaction.' }) transaction!: string;
  @Field(() => Int, { description: 'Which transfer of its transaction.' }) index!: number;
  @Field(() => String, { description: 'The token.' }) asset!: string;
  @Field(() => String, { description: 'Who paid.' }) payer!: string;
  @Field(() => String, { description: 'Who was paid.' }) payTo!: string;
  @Field(() => AtomicAmountScalar, { description: 'Atomic USDC.' }) amount!: AtomicAmount;
  @Field(() => Boolean, { description: 'Whether no other block could take the place of its own by then.' })
  final!: boolean;
}

@ObjectType({ description: 'What was completed elsewhere, as it was said and as far as its chain showed it.' })
export class Completion {
  @Field(() => String, { description: 'Of its receipt.' }) taskId!: string;
  @Field(() => String, { description: 'Where it was completed.' }) source!: string;
  @Field(() => String, { description: 'Its id there.' }) externalId!: string;
  @Field(() => NetworkWord, { description: 'On which network it is said to have been paid.' }) network!: string;
  @Field(() => String, { description: 'Who is said to have paid.' }) payer!: string;
  @Field(() => String, { description: 'Who is said to have been paid.' }) payee!: string;
  @Field(() => AtomicAmountScalar, { description: 'Atomic USDC, as it was said.' }) amount!: AtomicAmount;
  @Field(() => String, { description: '`network:transaction`, as it was said.' }) paymentRef!: string;
  @Field(() => String, { description: 'SHA-256 of what was delivered, as it is said: nobody here has seen that.' })
  outputHash!: string;
  @Field(() => SettledByWord, { nullable: true, description: 'Null where its chain does not show the payment.' })
  settledBy!: SettledBy | null;
  @Field(() => CompletionEvidenceWord, { description: 'What is known of the payment.' })
  evidence!: CompletionEvidence;
  @Field(() => CompletionTransfer, { nullable: true, description: 'The payment, where its chain showed it.' })
  observedTransfer!: CompletionTransfer | null;
  @Field(() => String, { description: 'Public receipt page.' }) verifyUrl!: string;
  @Field(() => CitedReceipt, { description: 'Its receipt: it signs what was said, and what of it was seen.' })
  receipt!: CitedReceipt;
  @Field(() => Boolean, { description: 'The same was recorded before.' }) idempotentReplay!: boolean;
  @Field(() => DateTimeScalar, { description: 'When it was recorded first.' }) recordedAt!: Date;
}
