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
  'Revocation of a session, as /.well-known/revocations shows it.',
  SessionRevocationNoun,
);
export type RevokedSession = InstanceType<typeof RevokedSession>;

const SessionDetail = objectType(
  'SessionDetail',
  'Limits of a session, and its spend, which includes that of all sessions below it.',
  SessionDetailNoun,
);
export type SessionDetail = InstanceType<typeof SessionDetail>;

export const SessionChallenge = objectType(
  'SessionChallenge',
  'A nonce for one act of a session. The request for it writes nothing.',
  SessionChallengeNoun,
);
export type SessionChallenge = InstanceType<typeof SessionChallenge>;

@ObjectType({
  description: 'A session that a payer has delegated to the key of an agent: its grant and its state.',
})
export class DelegatedSession extends membersOf(SessionNoun) {
  override endedBy!: RevokedSession | null;
}
// The type of `endedBy` on the graph also has the member `status`, which `ended_by` of the noun does not have.
showMembers(DelegatedSession, SessionNoun, { ended_by: RevokedSession });

inputType('ActPayloadInput', 'Rows that the act `read_private` returns: how many, and before which row.', ActPayload);
export const SessionActInput = inputType(
  'SessionActInput',
  'An act of a session, such as reading its receipts: what it does, to which resource, signed by the key of the session.',
  ActRequest,
);
