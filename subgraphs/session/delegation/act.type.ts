import { ObjectType } from 'type-graphql';
import type { MembersOf } from '../../../schema/noun.ts';
import { ApprovedCallNoun, HandedOffNoun, RedeemedNoun, SessionActNoun } from '../../../schema/session/act-result.ts';
import { objectType, showMembers } from '../../graph-type.ts';

objectType('HandedOff', 'A receipt that was made for another agent: of no payment, and no amount.', HandedOffNoun);
objectType('Redeemed', 'A claim that was closed, once and for ever.', RedeemedNoun);
objectType(
  'ApprovedCall',
  'A call of a session below that was approved: the very same passes once, within its time.',
  ApprovedCallNoun,
);

type Act = MembersOf<typeof SessionActNoun>;
/** Of what an act may come to, each effect says its own part. */
const Done = class {} as new () => Pick<Act, 'action' | 'resource' | 'delegationHash'> & Partial<Act>;

@ObjectType({ description: 'What a signed act has come to.' })
export class SessionActResult extends Done {}
showMembers(SessionActResult, SessionActNoun);
