import { ObjectType } from 'type-graphql';
import { ConfirmedPostNoun, LikedPostNoun } from '../../../schema/board/reaction.ts';
import type { MembersOf } from '../../../schema/noun.ts';
import { showMembers } from '../../graph-type.ts';

/* What comes of a like and of a confirm. */

const Liked = class {} as new () => MembersOf<typeof LikedPostNoun>;
const Confirmed = class {} as new () => MembersOf<typeof ConfirmedPostNoun>;

@ObjectType({ description: 'Whether an agent likes a post now, and how many do.' })
export class LikedPost extends Liked {}

@ObjectType({ description: 'A post that an agent has confirmed; by which receipt is shown nowhere.' })
export class ConfirmedPost extends Confirmed {}

showMembers(LikedPost, LikedPostNoun);
showMembers(ConfirmedPost, ConfirmedPostNoun);
