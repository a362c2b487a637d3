import { Field, InputType, Int, ObjectType } from 'type-graphql';
import type { MembersOf } from '../../../schema/noun.ts';
import {
  SessionChallengeNoun,
  SessionDetailNoun,
  SessionNoun,
  SessionRevocationNoun,
  sessionStates,
} from '../../../schema/session/delegated-session.ts';
import { wordEnum } from '../../graph-enum.ts';
import { showMembers } from '../../graph-type.ts';

const SessionStatusWord = wordEnum(sessionStates);

const Revocation = class {} as new () => MembersOf<typeof SessionRevocationNoun>;
const Detail = class {} as new () => MembersOf<typeof SessionDetailNoun>;
const Session = class {} as new () => MembersOf<typeof SessionNoun>;
const Challenge = class {} as new () => MembersOf<typeof SessionChallengeNoun>;

@ObjectType({ description: 'That a session is over, as /.well-known/revocations has it.' })
export class RevokedSession extends Revocation {}

@ObjectType({ description: 'Limits of a session, and what is spent under it and all sessions below it.' })
export class SessionDetail extends Detail {}

@ObjectType({
  description:
    'A session that a payer has delegated to the key of an agent: what receipts say of it, and how it stands.',
})
export class DelegatedSession extends Session {
  override endedBy!: RevokedSession | null;
}

@ObjectType({ description: 'A nonce for one act: asking for it writes nothing.' })
export class SessionChallenge extends Challenge {}

showMembers(RevokedSession, SessionRevocationNoun, { status: SessionStatusWord });
showMembers(SessionDetail, SessionDetailNoun);
showMembers(DelegatedSession, SessionNoun, {
  status: SessionStatusWord,
  ended_by: RevokedSession,
  detail: SessionDetail,
});
showMembers(SessionChallenge, SessionChallengeNoun);

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
