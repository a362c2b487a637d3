import { GraphQLJSONObject } from 'graphql-scalars';
import { Directive, Field, InputType, Int, ObjectType } from 'type-graphql';
import type { AtomicAmount } from '../../../schema/amount.ts';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import type { ClaimType } from '../../../schema/dispute/reasons.ts';
import {
  type A2aEscrowAction,
  type A2aEscrowParty,
  type A2aEscrowState,
  a2aEscrowActions,
  a2aEscrowParties,
  a2aEscrowStates,
} from '../../../schema/escrow.ts';
import { escrowLimits } from '../../../schema/limits.ts';
import { AtomicAmountScalar, DateTimeScalar } from '../../../schema/scalars.ts';
import { wordEnum } from '../../graph-enum.ts';
import { ClaimTypeWord } from '../dispute/dispute.entity.ts';
import type { ReleaseCheck } from './checks.ts';
import { EscrowCheck } from './ledger-escrow.type.ts';

const A2aEscrowStateWord = wordEnum(a2aEscrowStates);
const A2aEscrowActionWord = wordEnum(a2aEscrowActions);
const A2aEscrowPartyWord = wordEnum(a2aEscrowParties);

const words = {
  job_id: 'Of the principal’s own choosing, once.',
  job_spec_hash: 'Of what the two have agreed on: 32 bytes in hex.',
  amount: 'Atomic USDC that the job is to be worth. None of it is held.',
  principal: 'Who opens and funds it.',
  counterparty: 'Who delivers.',
  output_hash: 'Commitment that the fulfilment receipt must make: `sha256:<hex>` or `keccak256:<hex>`.',
  required: 'Requirements that the delivery must meet.',
} as const;

@InputType({ description: 'Two agents.' })
export class A2aEscrowPartiesInput {
  @Field(() => Int, { nullable: true, description: words.principal }) principalAgentId?: number | null;
  @Field(() => Int, { nullable: true, description: words.counterparty }) counterpartyAgentId?: number | null;
}

@InputType({ description: words.required })
export class A2aEscrowRequiredInput {
  @Field(() => String, { description: words.output_hash }) outputHash!: string;
}

@InputType({ description: 'What two agents agree on.' })
export class A2aEscrowInput {
  @Field(() => String, {
    nullable: true,
    description: `${words.job_id} One is made where it is left out, and the same request then opens another.`,
  })
  jobId?: string | null;
  @Field(() => String, { description: words.job_spec_hash }) jobSpecHash!: string;
  @Field(() => AtomicAmountScalar, { description: 'Atomic USDC.' }) amount!: AtomicAmount;
  @Field(() => A2aEscrowPartiesInput, {
    description: 'The counterparty has to be named; the principal is the agent of the book.',
  })
  parties!: A2aEscrowPartiesInput;
  @Field(() => DateTimeScalar, { nullable: true, description: 'Seven days from now where it is left out.' })
  expiresAt?: Date | null;
  @Field(() => A2aEscrowRequiredInput, {
    nullable: true,
    description: `${words.required} Default: none; any output commitment is accepted.`,
  })
  required?: A2aEscrowRequiredInput | null;
}

@InputType({ description: 'An escrow of two agents, by its job.' })
export class A2aEscrowName {
  @Field(() => String, { description: words.job_id }) jobId!: string;
  @Field(() => A2aEscrowPartiesInput, {
    nullable: true,
    description: 'Wanted where the caller has several escrows of that job id.',
  })
  parties?: A2aEscrowPartiesInput | null;
}

@ObjectType({ description: 'Two agents.' })
export class A2aEscrowParties {
  @Field(() => Int, { description: words.principal }) principalAgentId!: number;
  @Field(() => Int, { description: words.counterparty }) counterpartyAgentId!: number;
}

@ObjectType({ description: words.required })
export class A2aEscrowRequired {
  @Field(() => String, { nullable: true, description: `${words.output_hash} Null if no output hash is required.` })
  outputHash!: string | null;
}

@ObjectType({ description: 'A phase of an escrow of two agents, with its row on the book of whoever reads it.' })
export class A2aEscrowPhase {
  @Field(() => A2aEscrowActionWord, { nullable: true, description: 'By what; null: its time was over.' })
  action!: A2aEscrowAction | null;
  @Field(() => A2aEscrowPartyWord, { nullable: true, description: 'By whom; null: its time was over.' })
  by!: A2aEscrowParty | null;
  @Field(() => A2aEscrowStateWord, { description: 'The state that it led to.' }) state!: A2aEscrowState;
  @Field(() => DateTimeScalar, { description: 'When.' }) at!: Date;
  @Field(() => String, { nullable: true, description: 'Task of its row; null where this book has none.' })
  taskId!: string | null;
  @Field(() => Int, { nullable: true, description: 'Place of that row.' }) seq!: number | null;
  @Field(() => ClaimTypeWord, { nullable: true, description: 'Of a challenge or a clawback.' })
  claimType!: ClaimType | null;
  @Field(() => GraphQLJSONObject, { nullable: true, description: 'As the party gave it; judged by nobody.' })
  evidence!: JsonObject | null;
  @Directive(`@listSize(assumedSize: ${escrowLimits.checks_assumed})`)
  @Field(() => [EscrowCheck], { nullable: true, description: 'Of a release.' })
  checks!: readonly ReleaseCheck[] | null;
}

@ObjectType({
  description:
    'What two agents record of a job, as one of them is shown it. No money is held, and none moves by it: what backs it is a payment that the principal has made before.',
})
export class A2aEscrow {
  @Field(() => String, { description: 'Its own id.' }) escrowId!: string;
  @Field(() => String, { description: words.job_id }) jobId!: string;
  @Field(() => String, { description: words.job_spec_hash }) jobSpecHash!: string;
  @Field(() => AtomicAmountScalar, { description: words.amount }) amount!: AtomicAmount;
  @Field(() => A2aEscrowParties, { description: 'Two agents.' }) parties!: A2aEscrowParties;
  @Field(() => A2aEscrowRequired, { description: words.required }) required!: A2aEscrowRequired;
  @Field(() => A2aEscrowPartyWord, { description: 'Which of them is shown this.' }) party!: A2aEscrowParty;
  @Field(() => A2aEscrowStateWord, { description: 'Where it stands.' }) state!: A2aEscrowState;
  @Field(() => String, {
    nullable: true,
    description: 'The payment that backs it: shown to the principal alone, on whose book it stands.',
  })
  taskId!: string | null;
  @Field(() => String, {
    nullable: true,
    description: 'Task id of the submitted fulfilment receipt. Null before submit. No other escrow can use it.',
  })
  fulfillmentReceiptId!: string | null;
  @Field(() => String, { nullable: true, description: '`sha256:<hex>` or `keccak256:<hex>`, as it was submitted.' })
  outputCommitment!: string | null;
  @Field(() => DateTimeScalar, { description: 'When it was opened.' }) openedAt!: Date;
  @Field(() => DateTimeScalar, { description: 'Until when it can be funded and delivered.' }) expiresAt!: Date;
  @Directive(`@listSize(assumedSize: ${escrowLimits.phases_max})`)
  @Field(() => [A2aEscrowPhase], { description: 'How it came there, oldest first.' })
  phases!: readonly A2aEscrowPhase[];
  @Directive(`@listSize(assumedSize: ${escrowLimits.phases_max})`)
  @Field(() => [A2aEscrowActionWord], { description: 'What this party may do with it now.' })
  legal!: readonly A2aEscrowAction[];
}

@ObjectType({ description: 'Escrows that an agent is a party of.' })
export class A2aEscrows {
  @Field(() => Int, { description: 'Whose.' }) agentId!: number;
  @Field(() => [A2aEscrow], { description: 'Newest first, whichever party the agent is.' })
  escrows!: readonly A2aEscrow[];
  @Field(() => String, { nullable: true, description: '`before` of the next page. Null if there is none.' }) next!:
    | string
    | null;
}
