import { GraphQLJSONObject } from 'graphql-scalars';
import { Directive, Field, InputType, Int, ObjectType } from 'type-graphql';
import type { AtomicAmount } from '../../../schema/amount.ts';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import type { ClaimType } from '../../../schema/dispute/reasons.ts';
import {
  type LedgerEscrowAction,
  type LedgerEscrowState,
  ledgerEscrowActions,
  ledgerEscrowStates,
  type ProofTier,
  proofTiers,
} from '../../../schema/escrow.ts';
import { escrowLimits } from '../../../schema/limits.ts';
import { AtomicAmountScalar, DateTimeScalar } from '../../../schema/scalars.ts';
import { wordEnum } from '../../graph-enum.ts';
import { ClaimTypeWord } from '../dispute/dispute.entity.ts';
import type { ReleaseCheck } from './checks.ts';

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

@ObjectType({ description: 'What is checked on release.' })
export class EscrowRequired {
  @Field(() => String, { nullable: true, description: words.output_hash }) outputHash!: string | null;
  @Field(() => ProofTierWord, { nullable: true, description: words.proof_tier }) proofTier!: ProofTier | null;
}

@ObjectType({ description: 'One thing that was looked at before a release.' })
export class EscrowCheck {
  @Field(() => String, { description: 'What.' }) check!: string;
  @Field(() => Boolean, { description: 'Whether it holds.' }) passed!: boolean;
  @Field(() => String, { description: 'What was wanted.' }) wanted!: string;
  @Field(() => String, { nullable: true, description: 'What was found.' }) found!: string | null;
}

@ObjectType({ description: 'A phase of a ledger escrow: an event of its book.' })
export class LedgerEscrowPhase {
  @Field(() => LedgerEscrowActionWord, { nullable: true, description: 'By what; null: its time was over.' })
  action!: LedgerEscrowAction | null;
  @Field(() => LedgerEscrowStateWord, { description: 'The state that it led to.' }) state!: LedgerEscrowState;
  @Field(() => DateTimeScalar, { description: 'When.' }) at!: Date;
  @Field(() => Int, { description: 'Of its event on the book.' }) position!: number;
  @Field(() => ClaimTypeWord, { nullable: true, description: 'Why it was clawed back.' })
  claimType!: ClaimType | null;
  @Field(() => GraphQLJSONObject, { nullable: true, description: 'As the owner gave it; judged by nobody.' })
  evidence!: JsonObject | null;
  @Directive(`@listSize(assumedSize: ${escrowLimits.checks_assumed})`)
  @Field(() => [EscrowCheck], { nullable: true, description: 'Of a release.' })
  checks!: readonly ReleaseCheck[] | null;
}

@ObjectType({
  description: 'A hold that an owner records over a call of their own book. No money is held, and none moves by it.',
})
export class LedgerEscrow {
  @Field(() => String, { description: 'Its own id.' }) escrowId!: string;
  @Field(() => Int, { description: 'Whose book.' }) agentId!: number;
  @Field(() => String, { description: 'The call that it is over.' }) taskId!: string;
  @Field(() => AtomicAmountScalar, { description: 'Atomic USDC that were collected for that call.' })
  amount!: AtomicAmount;
  @Field(() => EscrowRequired, { description: 'What is checked on release.' }) required!: EscrowRequired;
  @Field(() => LedgerEscrowStateWord, { description: 'Where it stands.' }) state!: LedgerEscrowState;
  @Field(() => DateTimeScalar, { description: 'When it was opened.' }) openedAt!: Date;
  @Field(() => DateTimeScalar, { description: 'When its time is over.' }) expiresAt!: Date;
  @Directive(`@listSize(assumedSize: ${escrowLimits.phases_max})`)
  @Field(() => [LedgerEscrowPhase], { description: 'How it came there, oldest first.' })
  phases!: readonly LedgerEscrowPhase[];
  @Directive(`@listSize(assumedSize: ${escrowLimits.phases_max})`)
  @Field(() => [LedgerEscrowActionWord], { description: 'What may be done with it now.' })
  legal!: readonly LedgerEscrowAction[];
}
