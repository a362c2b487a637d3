import { ObjectType } from 'type-graphql';
import type { MembersOf } from '../../../schema/noun.ts';
import { ApprovedCallNoun, HandedOffNoun, RedeemedNoun, SessionActNoun } from '../../../schema/session/act-result.ts';
import { showMembers } from '../../graph-type.ts';

type Act = MembersOf<typeof SessionActNoun>;
const ChildReceipt = class {} as new () => MembersOf<typeof HandedOffNoun>;
const ClosedClaim = class {} as new () => MembersOf<typeof RedeemedNoun>;
const Approved = class {} as new () => MembersOf<typeof ApprovedCallNoun>;
const Done = class {} as new () => Pick<Act, 'action' | 'resource' | 'delegationHash'> & Partial<Act>;

@ObjectType({ description: 'A receipt that was made for another agent: of no payment, and no amount.' })
export class HandedOff extends ChildReceipt {}

@ObjectType({ description: 'A claim that was closed, once and for ever.' })
export class Redeemed extends ClosedClaim {}

@ObjectType({ description: 'A call of a session below that was approved: the very same passes once, within its time.' })
export class ApprovedCall extends Approved {}

@ObjectType({ description: 'What a signed act has come to.' })
export class SessionActResult extends Done {}

showMembers(HandedOff, HandedOffNoun);
showMembers(Redeemed, RedeemedNoun);
showMembers(ApprovedCall, ApprovedCallNoun);
showMembers(SessionActResult, SessionActNoun, { receipt: HandedOff, redeemed: Redeemed, approved: ApprovedCall });
