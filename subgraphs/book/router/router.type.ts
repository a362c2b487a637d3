import { Field, ObjectType } from 'type-graphql';
import type { MembersOf } from '../../../schema/noun.ts';
import { BroadcastRequest, RouterBookRequest } from '../../../schema/requests/router.ts';
import {
  BroadcastGenerationNoun,
  KeptRouterKeyNoun,
  OpenedRouterBookNoun,
  RouterBookSummaryNoun,
  RouterRailSumNoun,
} from '../../../schema/router/book.ts';
import { NOT_SETTLED_HERE } from '../../../schema/router/reported.ts';
import { inputType, objectType, showMembers } from '../../graph-type.ts';
import { ReceiptReference } from '../page/book.type.ts';

export const RouterBookInput = inputType('RouterBookInput', 'A router book that is to be opened.', RouterBookRequest);
export const BroadcastInput = inputType('BroadcastInput', 'What is reported of a generation.', BroadcastRequest);

export const OpenedRouterBook = objectType(
  'OpenedRouterBook',
  'A router book as it was opened, with the key by which generations are reported to it.',
  OpenedRouterBookNoun,
);
export type OpenedRouterBook = InstanceType<typeof OpenedRouterBook>;
export const KeptRouterKey = objectType(
  'KeptRouterKey',
  'That a router book keeps the key of its router. The key itself is never shown.',
  KeptRouterKeyNoun,
);
export type KeptRouterKey = InstanceType<typeof KeptRouterKey>;

const Generation = class {} as new () => MembersOf<typeof BroadcastGenerationNoun>;

@ObjectType({ description: `A generation of a third-party router. ${NOT_SETTLED_HERE}` })
export class BroadcastGeneration extends Generation {
  @Field(() => ReceiptReference, { description: 'Its receipt: it signs what was reported, and no payment.' })
  receipt!: ReceiptReference;
}
showMembers(BroadcastGeneration, BroadcastGenerationNoun);

objectType('RouterRailSum', 'Verified generations of one rail, as it was reported.', RouterRailSumNoun);
export const RouterBookSummary = objectType(
  'RouterBookSummary',
  'What of a router book a look-up at the router has confirmed as it was reported.',
  RouterBookSummaryNoun,
);
export type RouterBookSummary = InstanceType<typeof RouterBookSummary>;
