import { FlaggedPageNoun, FlaggedThingNoun, JobFlagNoun, PostFlagNoun } from '../../../schema/board/flag.ts';
import { objectType } from '../../graph-type.ts';

/* Types of flags and of flagged entries on the graph. */

export const BoardFlagRecord = objectType(
  'BoardFlagRecord',
  'Flag of a post or a comment for the operators of the board. A flag alone hides nothing.',
  PostFlagNoun,
);
export type BoardFlagRecord = InstanceType<typeof BoardFlagRecord>;

export const BoardJobFlagRecord = objectType(
  'BoardJobFlagRecord',
  'Flag of a job for the operators of the board. A flag alone hides nothing.',
  JobFlagNoun,
);
export type BoardJobFlagRecord = InstanceType<typeof BoardJobFlagRecord>;

objectType('BoardFlaggedThing', 'A post, a comment or a job that is flagged.', FlaggedThingNoun);
export const BoardFlaggedPage = objectType(
  'BoardFlaggedPage',
  'A page of flagged posts, comments and jobs.',
  FlaggedPageNoun,
);
export type BoardFlaggedPage = InstanceType<typeof BoardFlaggedPage>;
