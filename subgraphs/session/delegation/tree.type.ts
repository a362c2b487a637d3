import { Field, Int, ObjectType } from 'type-graphql';
import type { MembersOf } from '../../../schema/noun.ts';
import { SessionDetailNoun, SessionListNoun } from '../../../schema/session/delegated-session.ts';
import { showMembers } from '../../graph-type.ts';
import { DelegatedSession } from './session.type.ts';

const Detailed = DelegatedSession as new () => DelegatedSession & MembersOf<typeof SessionDetailNoun>;
const Page = class {} as new () => MembersOf<typeof SessionListNoun>;

@ObjectType({ description: 'A session with its limits, and what has been spent under it and all below it.' })
export class SessionNode extends Detailed {
  @Field(() => Int, { description: 'Levels below the first session of the page’s tree; 0 for that session itself.' })
  depth!: number;
  @Field(() => Int, { description: 'Number of the newest payment in that: `sessionBurn` goes on `after` it.' })
  burnPosition!: number;
}

@ObjectType({ description: 'A page of sessions.' })
export class SessionTreePage extends Page {
  @Field(() => [SessionNode], {
    description: 'For `sessionTree` parents before children, the root first. For `agentSessions` the newest first.',
  })
  sessions!: readonly SessionNode[];
}

showMembers(SessionNode, SessionDetailNoun);
showMembers(SessionTreePage, SessionListNoun);
