import { ObjectType } from 'type-graphql';
import type { MembersOf } from '../../../schema/noun.ts';
import { SessionListNoun, SessionNodeNoun, SessionNodes } from '../../../schema/session/delegated-session.ts';
import { membersOf, showMembers } from '../../graph-type.ts';
import { DelegatedSession } from './session.type.ts';

const Detailed = DelegatedSession as new () => DelegatedSession & MembersOf<typeof SessionNodeNoun>;
@ObjectType({ description: 'A session with its limits. Its spend includes that of all sessions below it.' })
export class SessionNode extends Detailed {}
showMembers(SessionNode, SessionNodeNoun);

@ObjectType({ description: 'A page of delegated sessions, each with its limits and spend.' })
export class SessionTreePage extends membersOf(SessionListNoun) {
  sessions!: readonly SessionNode[];
}
showMembers(SessionTreePage, SessionListNoun);
showMembers(SessionTreePage, SessionNodes);
