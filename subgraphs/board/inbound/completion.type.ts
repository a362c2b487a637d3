import { Field, InputType, ObjectType } from 'type-graphql';
import type { AtomicAmount } from '../../../schema/amount.ts';
import { CompletionNoun, CompletionTransferNoun, completionEvidence } from '../../../schema/board/completion.ts';
import type { MembersOf } from '../../../schema/noun.ts';
import { AtomicAmountScalar } from '../../../schema/scalars.ts';
import { wordEnum } from '../../graph-enum.ts';
import { showMembers } from '../../graph-type.ts';
import { NetworkWord, SettledByWord } from '../../words.ts';
import { CitedReceipt } from '../receipt.type.ts';

/* How the graph takes a completion from elsewhere, and answers it. */

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

const Transfer = class {} as new () => MembersOf<typeof CompletionTransferNoun>;
const Reported = class {} as new () => MembersOf<typeof CompletionNoun>;

@ObjectType({ description: 'The payment of a completion, as its chain showed it.' })
export class CompletionTransfer extends Transfer {}

@ObjectType({ description: 'What was completed elsewhere, as it was said and as far as its chain showed it.' })
export class Completion extends Reported {
  @Field(() => CitedReceipt, { description: 'Its receipt: it signs what was said, and what of it was seen.' })
  receipt!: CitedReceipt;
  @Field(() => Boolean, { description: 'The same was recorded before.' }) idempotentReplay!: boolean;
}

showMembers(CompletionTransfer, CompletionTransferNoun, { network: NetworkWord });
showMembers(Completion, CompletionNoun, {
  network: NetworkWord,
  settled_by: SettledByWord,
  evidence: wordEnum(completionEvidence),
  observed_transfer: CompletionTransfer,
});
