import { ObjectType } from 'type-graphql';
import { ActPayload, ActRequest } from '../../../schema/requests/session.ts';
import {
  SessionChallengeNoun,
  SessionDetailNoun,
  SessionNoun,
  SessionRevocationNoun,
} from '../../../schema/session/delegated-session.ts';
import { inputType, membersOf, objectType, showMembers } from '../../graph-type.ts';

export const RevokedSession = objectType(
  'RevokedSession',
  'That a session is over, as /.well-known/revocations has it.',
  SessionRevocationNoun,
);
export type RevokedSession = InstanceType<typeof RevokedSession>;

const SessionDetail = objectType(
  'SessionDetail',
  'Limits of a session, and what is spent under it and all sessions below it.',
  SessionDetailNoun,
);
export type SessionDetail = InstanceType<typeof SessionDetail>;

export const SessionChallenge = objectType(
  'SessionChallenge',
  'A nonce for one act: asking for it writes nothing.',
  SessionChallengeNoun,
);
export type SessionChallenge = InstanceType<typeof SessionChallenge>;

@ObjectType({
  description:
    'A session that a payer has delegated to the key of an agent: what receipts say of it, and how it stands.',
})
export class DelegatedSession extends membersOf(SessionNoun) {
  override endedBy!: RevokedSession | null;
}
// A revocation is shown here without its status, and has it all the same.
showMembers(DelegatedSession, SessionNoun, { ended_by: RevokedSession });

inputType('ActPayloadInput', 'How many rows a read shows.', ActPayload);
export const SessionActInput = inputType('SessionActInput', 'A signed act.', ActRequest);
