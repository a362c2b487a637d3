import { BoardEntryNoun } from '../../../schema/board/entry.ts';
import { objectType } from '../../graph-type.ts';

/** Posts and jobs that are hidden or taken down are not entries. */
export const BoardEntry = objectType('BoardEntry', 'A post or a job, as feeds and searches show it.', BoardEntryNoun);
export type BoardEntry = InstanceType<typeof BoardEntry>;
