import { ObjectType } from 'type-graphql';
import { BoardSearchNoun, boardMatches } from '../../../schema/board/entry.ts';
import type { MembersOf } from '../../../schema/noun.ts';
import { wordEnum } from '../../graph-enum.ts';
import { showMembers } from '../../graph-type.ts';
import { BoardEntry } from '../entry/entry.type.ts';

const Page = class {} as new () => MembersOf<typeof BoardSearchNoun>;

@ObjectType({ description: 'What a search of the board found, newest first.' })
export class BoardSearchPage extends Page {}

showMembers(BoardSearchPage, BoardSearchNoun, { matched: wordEnum(boardMatches), hits: BoardEntry });
