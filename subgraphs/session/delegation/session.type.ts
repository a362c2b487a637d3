import { GraphQLJSONObject } from 'graphql-scalars';
import { Field, InputType, Int, ObjectType } from 'type-graphql';
import type { AtomicAmount } from '../../../schema/amount.ts';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import { AtomicAmountScalar, DateTimeScalar } from '../../../schema/scalars.ts';
import type { SessionStatus } from '../../../schema/session/grant-rule.ts';
import { graphEnum } from '../../graph-enum.ts';

export const SessionStatusWord = graphEnum<SessionStatus>('SessionStatus', 'Whether a session serves.', {
  active: 'It does, from its validAfter on.',
  expired: 'Its time is over.',
  revoked: 'Its payer, or one of a session over it, has said so.',
});

@ObjectType({ description: 'That a session is over, as /.well-known/revocations has it.' })
export class RevokedSession {
  @Field(() => String, { description: 'Of the session.' }) delegationHash!: string;
  @Field(() => SessionStatusWord, { description: '`revoked`.' }) status!: SessionStatus;
  @Field(() => String, { description: 'Wallet that signed it; the payer of the session if nobody did.' })
  payer!: string;
  @Field(() => Int, { description: 'Time that was signed, in Unix seconds; without a signature, when it was revoked.' })
  at!: number;
  @Field(() => String, {
    nullable: true,
    description:
      'Signature as it was shown. Null if the service ended the session with all others, because its operator accepted a break of the log.',
  })
  signature!: string | null;
  @Field(() => DateTimeScalar, { description: 'Since when it holds.' }) revokedAt!: Date;
}

@ObjectType({ description: 'Limits of a session, and what is spent under it and all sessions below it.' })
export class SessionDetail {
  @Field(() => AtomicAmountScalar, { description: 'Cap in atomic USDC on what may be spent under it and below it.' })
  capAtomic!: AtomicAmount;
  @Field(() => AtomicAmountScalar, { description: 'Amount of recorded payments, in atomic USDC.' })
  spentAtomic!: AtomicAmount;
  @Field(() => AtomicAmountScalar, { description: 'Amount that payments in progress hold, in atomic USDC.' })
  heldAtomic!: AtomicAmount;
  @Field(() => AtomicAmountScalar, {
    description:
      'max(0, cap − spent − held), in atomic USDC. A payment must also fit within this value of each session above.',
  })
  remainingAtomic!: AtomicAmount;
  @Field(() => [String], { description: 'Ids of the models that may answer. Empty: any model.' })
  models!: readonly string[];
  @Field(() => [String], { description: 'Names of the paid endpoints that may be called. Empty: any endpoint.' })
  doors!: readonly string[];
}

@ObjectType({
  description:
    'A session that a payer has delegated to the key of an agent: what receipts say of it, and how it stands.',
})
export class DelegatedSession {
  @Field(() => String, { description: 'Its name: the EIP-712 digest of its grant.' }) delegationHash!: string;
  @Field(() => SessionStatusWord, { description: 'Whether it serves.' }) status!: SessionStatus;
  @Field(() => String, { description: 'Whose payments are made under it.' }) payer!: string;
  @Field(() => String, { description: 'The key that acts under it.' }) agentPubkey!: string;
  @Field(() => Int, { description: 'Unix seconds.' }) validAfter!: number;
  @Field(() => Int, { description: 'Unix seconds.' }) sessionExpiry!: number;
  @Field(() => String, { nullable: true, description: 'Of the session that it is a child of.' })
  parentDelegationHash!: string | null;
  @Field(() => DateTimeScalar, { description: 'When the first payment under it was recorded.' }) boundAt!: Date;
  @Field(() => [String], { description: 'Of all that stand over it, the root first, and its own last.' })
  path!: readonly string[];
  @Field(() => RevokedSession, {
    nullable: true,
    description: 'The revocation that has ended it, its own or of one over it; null where none has.',
  })
  endedBy!: RevokedSession | null;
  @Field(() => SessionDetail, {
    nullable: true,
    description:
      'Limits and spending. Null unless the request proves possession of the book of the payer, or of the payer of a session above it.',
  })
  detail!: SessionDetail | null;
}

@ObjectType({ description: 'A nonce for one act: asking for it writes nothing.' })
export class SessionChallenge {
  @Field(() => String, { description: 'What the act shows in place of nonce and deadline.' }) challengeId!: string;
  @Field(() => String, { description: 'To be signed.' }) nonce!: string;
  @Field(() => Int, { description: 'Unix seconds.' }) issuedAt!: number;
  @Field(() => Int, { description: 'To be signed: Unix seconds, from which on it serves no more.' }) deadline!: number;
  @Field(() => GraphQLJSONObject, { description: 'EIP-712: domain, types and the type of an act.' })
  typedData!: JsonObject;
}

@InputType({ description: 'How many rows a read shows.' })
export class ActPayloadInput {
  @Field(() => Int, { nullable: true, description: '1 to 200; 50 where it is left out.' }) limit?: number;
  @Field(() => String, {
    nullable: true,
    description: 'Only rows older than this task id: pass `next` of the previous response.',
  })
  before?: string;
}

@InputType({ description: 'A signed act.' })
export class SessionActInput {
  @Field(() => String, { description: '`handoff`, `read_private`, `redeem` or `approve`.' }) action!: string;
  @Field(() => String, {
    description:
      'What the act is about: `receipt/<task_id>`; for `read_private` also `book`, `book/export` or `session`; for `approve` `call/<request_hash>`.',
  })
  resource!: string;
  @Field(() => String, { description: "Over SessionAct, by the session's key." }) signature!: string;
  @Field(() => String, { nullable: true, description: 'Or nonce and deadline.' }) challengeId?: string;
  @Field(() => String, { nullable: true, description: 'Any 32 bytes, once.' }) nonce?: string;
  @Field(() => Int, { nullable: true, description: 'Unix seconds; now < deadline <= now + 300.' }) deadline?: number;
  @Field(() => Int, { nullable: true, description: 'Of a handoff: which agent it is for.' }) targetAgent?: number;
  @Field(() => ActPayloadInput, { nullable: true, description: 'Of a read.' }) payload?: ActPayloadInput;
  @Field(() => String, { nullable: true, description: 'keccak256 of its canonical JSON; zeros without one.' })
  payloadHash?: string;
}
