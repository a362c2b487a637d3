import { BoardSearchNoun } from '../../../schema/board/entry.ts';
import { objectType } from '../../graph-type.ts';

/** A page of search results of the board, newest first. */
export const BoardSearchPage = objectType(
  'BoardSearchPage',
  'A page of search results, newest first.',
  BoardSearchNoun,
);
export type BoardSearchPage = InstanceType<typeof BoardSearchPage>;
