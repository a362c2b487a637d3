import { Field, InputType, ObjectType } from 'type-graphql';
import type { AtomicAmount } from '../../../schema/amount.ts';
import {
  EscrowCheckNoun,
  LedgerEscrowNoun,
  LedgerEscrowPhaseNoun,
  LedgerEscrowRequiredNoun,
  ledgerEscrowActions,
  ledgerEscrowStates,
  type ProofTier,
  proofTiers,
} from '../../../schema/escrow.ts';
import type { MembersOf } from '../../../schema/noun.ts';
import { AtomicAmountScalar, DateTimeScalar } from '../../../schema/scalars.ts';
import { wordEnum } from '../../graph-enum.ts';
import { showMembers } from '../../graph-type.ts';
import { ClaimTypeWord } from '../dispute/dispute.entity.ts';

const LedgerEscrowStateWord = wordEnum(ledgerEscrowStates);
const LedgerEscrowActionWord = wordEnum(ledgerEscrowActions);
const ProofTierWord = wordEnum(proofTiers);

const words = {
  output_hash: '`sha256:<hex>` or `keccak256:<hex>`: what the receipt has to commit to.',
  proof_tier: 'What the receipt has to show.',
} as const;

@InputType({ description: 'What is checked on release.' })
export class EscrowRequiredInput {
  @Field(() => String, { nullable: true, description: words.output_hash }) outputHash?: string | null;
  @Field(() => ProofTierWord, { nullable: true, description: words.proof_tier }) proofTier?: ProofTier | null;
}

@InputType({ description: 'Over which call of the book, until when, and what is checked on release.' })
export class LedgerEscrowInput {
  @Field(() => String, { description: 'A call of this book whose payment was collected.' }) taskId!: string;
  @Field(() => AtomicAmountScalar, {
    nullable: true,
    description: 'Atomic USDC; where it is given it has to be what was collected.',
  })
  amount?: AtomicAmount | null;
  @Field(() => DateTimeScalar, { nullable: true, description: 'Seven days from now where it is left out.' })
  expiresAt?: Date | null;
  @Field(() => EscrowRequiredInput, { nullable: true, description: 'Only that it is collected, where left out.' })
  required?: EscrowRequiredInput | null;
}

@InputType({ description: 'A ledger escrow, by its id or by its task: then the newest of that.' })
export class LedgerEscrowName {
  @Field(() => String, { nullable: true, description: 'Its own id.' }) escrowId?: string | null;
  @Field(() => String, { nullable: true, description: 'The call that it is over.' }) taskId?: string | null;
}

const Required = class {} as new () => MembersOf<typeof LedgerEscrowRequiredNoun>;
const Check = class {} as new () => MembersOf<typeof EscrowCheckNoun>;
const Phase = class {} as new () => MembersOf<typeof LedgerEscrowPhaseNoun>;
const Escrow = class {} as new () => MembersOf<typeof LedgerEscrowNoun>;

@ObjectType({ description: 'What is checked on release.' })
export class EscrowRequired extends Required {}

@ObjectType({ description: 'One thing that was looked at before a release.' })
export class EscrowCheck extends Check {}

@ObjectType({ description: 'A phase of a ledger escrow: an event of its book.' })
export class LedgerEscrowPhase extends Phase {}

@ObjectType({
  description: 'A hold that an owner records over a call of their own book. No money is held, and none moves by it.',
})
export class LedgerEscrow extends Escrow {}

showMembers(EscrowRequired, LedgerEscrowRequiredNoun, { proof_tier: ProofTierWord });
showMembers(EscrowCheck, EscrowCheckNoun);
showMembers(LedgerEscrowPhase, LedgerEscrowPhaseNoun, {
  action: LedgerEscrowActionWord,
  state: LedgerEscrowStateWord,
  claim_type: ClaimTypeWord,
  checks: EscrowCheck,
});
showMembers(LedgerEscrow, LedgerEscrowNoun, {
  required: EscrowRequired,
  state: LedgerEscrowStateWord,
  phases: LedgerEscrowPhase,
  legal: LedgerEscrowActionWord,
});
