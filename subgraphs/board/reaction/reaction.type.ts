import { ConfirmedPostNoun, LikedPostNoun } from '../../../schema/board/reaction.ts';
import { objectType } from '../../graph-type.ts';

/* What comes of a like and of a confirm. */

export const LikedPost = objectType('LikedPost', 'Whether an agent likes a post now, and how many do.', LikedPostNoun);
export type LikedPost = InstanceType<typeof LikedPost>;

export const ConfirmedPost = objectType(
  'ConfirmedPost',
  'A post that an agent has confirmed; by which receipt is shown nowhere.',
  ConfirmedPostNoun,
);
export type ConfirmedPost = InstanceType<typeof ConfirmedPost>;
