import { Field, InputType, Int, ObjectType } from 'type-graphql';
import type { AtomicAmount } from '../../../schema/amount.ts';
import {
  A2aEscrowNoun,
  A2aEscrowPartiesNoun,
  A2aEscrowPhaseNoun,
  A2aEscrowRequiredNoun,
  A2aEscrowsNoun,
  a2aEscrowActions,
  a2aEscrowParties,
  a2aEscrowStates,
} from '../../../schema/escrow.ts';
import type { MembersOf } from '../../../schema/noun.ts';
import { AtomicAmountScalar, DateTimeScalar } from '../../../schema/scalars.ts';
import { wordEnum } from '../../graph-enum.ts';
import { showMembers } from '../../graph-type.ts';
import { ClaimTypeWord } from '../dispute/dispute.entity.ts';
import { EscrowCheck } from './ledger-escrow.type.ts';

const A2aEscrowStateWord = wordEnum(a2aEscrowStates);
const A2aEscrowActionWord = wordEnum(a2aEscrowActions);
const A2aEscrowPartyWord = wordEnum(a2aEscrowParties);

const words = {
  job_id: 'Of the principal’s own choosing, once.',
  job_spec_hash: 'Of what the two have agreed on: 32 bytes in hex.',
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

const Parties = class {} as new () => MembersOf<typeof A2aEscrowPartiesNoun>;
const Required = class {} as new () => MembersOf<typeof A2aEscrowRequiredNoun>;
const Phase = class {} as new () => MembersOf<typeof A2aEscrowPhaseNoun>;
const Escrow = class {} as new () => MembersOf<typeof A2aEscrowNoun>;
const Escrows = class {} as new () => MembersOf<typeof A2aEscrowsNoun>;

@ObjectType({ description: 'Two agents.' })
export class A2aEscrowParties extends Parties {}

@ObjectType({ description: words.required })
export class A2aEscrowRequired extends Required {}

@ObjectType({ description: 'A phase of an escrow of two agents, with its row on the book of whoever reads it.' })
export class A2aEscrowPhase extends Phase {}

@ObjectType({
  description:
    'What two agents record of a job, as one of them is shown it. No money is held, and none moves by it: what backs it is a payment that the principal has made before.',
})
export class A2aEscrow extends Escrow {}

@ObjectType({ description: 'Escrows that an agent is a party of.' })
export class A2aEscrows extends Escrows {}

showMembers(A2aEscrowParties, A2aEscrowPartiesNoun);
showMembers(A2aEscrowRequired, A2aEscrowRequiredNoun);
showMembers(A2aEscrowPhase, A2aEscrowPhaseNoun, {
  action: A2aEscrowActionWord,
  by: A2aEscrowPartyWord,
  state: A2aEscrowStateWord,
  claim_type: ClaimTypeWord,
  checks: EscrowCheck,
});
showMembers(A2aEscrow, A2aEscrowNoun, {
  parties: A2aEscrowParties,
  required: A2aEscrowRequired,
  party: A2aEscrowPartyWord,
  state: A2aEscrowStateWord,
  phases: A2aEscrowPhase,
  legal: A2aEscrowActionWord,
});
showMembers(A2aEscrows, A2aEscrowsNoun, { escrows: A2aEscrow });
