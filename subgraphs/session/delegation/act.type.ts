import { ObjectType } from 'type-graphql';
import { ApprovedCallNoun, HandedOffNoun, RedeemedNoun, SessionActNoun } from '../../../schema/session/act-result.ts';
import { membersOf, objectType, showMembers } from '../../graph-type.ts';

objectType('HandedOff', 'A child receipt made for another agent. It records no payment and no amount.', HandedOffNoun);
objectType(
  'Redeemed',
  'Claim of a receipt that a signed act has closed. A claim can be closed only once.',
  RedeemedNoun,
);
objectType(
  'ApprovedCall',
  'A call that was refused under a lower session, and that this act approved. The same call passes once, before the approval expires.',
  ApprovedCallNoun,
);

@ObjectType({ description: 'What an act of a session did or read. Members for other actions are null.' })
export class SessionActResult extends membersOf(SessionActNoun) {}
showMembers(SessionActResult, SessionActNoun);
