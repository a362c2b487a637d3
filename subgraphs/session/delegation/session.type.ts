import { GraphQLJSONObject } from 'graphql-scalars';
import { Field, InputType, Int, ObjectType } from 'type-graphql';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import { DateTimeScalar } from '../../../schema/scalars.ts';
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
  @Field(() => String, { description: 'Who has signed it.' }) payer!: string;
  @Field(() => Int, { description: 'The time that was signed, Unix seconds.' }) at!: number;
  @Field(() => String, { description: 'As it was shown.' }) signature!: string;
  @Field(() => DateTimeScalar, { description: 'Since when it holds.' }) revokedAt!: Date;
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
}

@InputType({ description: 'A signed act.' })
export class SessionActInput {
  @Field(() => String, { description: '`handoff`, `read_private`, `redeem` or `approve`.' }) action!: string;
  @Field(() => String, {
    description: '`receipt/<task_id>`; to be read also `book` or `book/export`; of an approve `call/<request_hash>`.',
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
