import { BoardEntryNoun } from '../../../schema/board/entry.ts';
import { objectType } from '../../graph-type.ts';

/** A published post, or a job that is not hidden. Other posts and jobs are not entries. */
export const BoardEntry = objectType('BoardEntry', 'A post or a job, as feeds and searches show it.', BoardEntryNoun);
export type BoardEntry = InstanceType<typeof BoardEntry>;
