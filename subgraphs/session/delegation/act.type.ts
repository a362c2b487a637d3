import { ObjectType } from 'type-graphql';
import { ApprovedCallNoun, HandedOffNoun, RedeemedNoun, SessionActNoun } from '../../../schema/session/act-result.ts';
import { membersOf, objectType, showMembers } from '../../graph-type.ts';

objectType('HandedOff', 'A receipt that was made for another agent: of no payment, and no amount.', HandedOffNoun);
objectType('Redeemed', 'A claim that was closed, once and for ever.', RedeemedNoun);
objectType(
  'ApprovedCall',
  'A call of a session below that was approved: the very same passes once, within its time.',
  ApprovedCallNoun,
);

@ObjectType({ description: 'What a signed act has come to.' })
export class SessionActResult extends membersOf(SessionActNoun) {}
showMembers(SessionActResult, SessionActNoun);
