import { BoardEntryNoun } from '../../../schema/board/entry.ts';
import { objectType } from '../../graph-type.ts';

/** Neither what is hidden nor what was taken down is one. */
export const BoardEntry = objectType('BoardEntry', 'A post or a job, as feeds and searches show it.', BoardEntryNoun);
export type BoardEntry = InstanceType<typeof BoardEntry>;
