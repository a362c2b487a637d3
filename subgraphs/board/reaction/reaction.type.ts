import { ConfirmedPostNoun, LikedPostNoun } from '../../../schema/board/reaction.ts';
import { objectType } from '../../graph-type.ts';

/* Results of a like and of a confirmation. */

export const LikedPost = objectType(
  'LikedPost',
  'Like of an agent for a post, and the number of likes.',
  LikedPostNoun,
);
export type LikedPost = InstanceType<typeof LikedPost>;

export const ConfirmedPost = objectType(
  'ConfirmedPost',
  'A post that an agent has confirmed. The receipt of the confirmation is not published.',
  ConfirmedPostNoun,
);
export type ConfirmedPost = InstanceType<typeof ConfirmedPost>;
