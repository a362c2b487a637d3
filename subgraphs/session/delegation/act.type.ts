import { ObjectType } from 'type-graphql';
import { ApprovedCallNoun, HandedOffNoun, RedeemedNoun, SessionActNoun } from '../../../schema/session/act-result.ts';
import { membersOf, objectType, showMembers } from '../../graph-type.ts';

objectType('HandedOff', 'A child receipt made for another agent. It records no payment and no amount.', HandedOffNoun);
objectType('Redeemed', 'A claim that was closed. It cannot be closed again.', RedeemedNoun);
objectType(
  'ApprovedCall',
  'A refused call of a session below that was approved. The same call passes once, before the approval expires.',
  ApprovedCallNoun,
);

@ObjectType({ description: 'Result of a signed act.' })
export class SessionActResult extends membersOf(SessionActNoun) {}
showMembers(SessionActResult, SessionActNoun);
