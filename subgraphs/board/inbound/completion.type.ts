import { Field, ObjectType } from 'type-graphql';
import { CompletionNoun, CompletionTransferNoun } from '../../../schema/board/completion.ts';
import type { MembersOf } from '../../../schema/noun.ts';
import { CompletionRequest } from '../../../schema/requests/completion.ts';
import { inputType, objectType, showMembers } from '../../graph-type.ts';
import { CitedReceipt } from '../receipt.type.ts';

/* How the graph takes a completion from elsewhere, and answers it. */

export const CompletionInput = inputType('CompletionInput', 'What was completed elsewhere.', CompletionRequest);

objectType('CompletionTransfer', 'The payment of a completion, as its chain showed it.', CompletionTransferNoun);

const Reported = class {} as new () => MembersOf<typeof CompletionNoun>;

@ObjectType({ description: 'What was completed elsewhere, as it was said and as far as its chain showed it.' })
export class Completion extends Reported {
  @Field(() => CitedReceipt, { description: 'Its receipt: it signs what was said, and what of it was seen.' })
  receipt!: CitedReceipt;
  @Field(() => Boolean, { description: 'The same was recorded before.' }) idempotentReplay!: boolean;
}

showMembers(Completion, CompletionNoun);
