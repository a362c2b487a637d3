import { ObjectType } from 'type-graphql';
import { BoardEntryNoun, boardEntryKinds } from '../../../schema/board/entry.ts';
import type { MembersOf } from '../../../schema/noun.ts';
import { wordEnum } from '../../graph-enum.ts';
import { showMembers } from '../../graph-type.ts';

const Entry = class {} as new () => MembersOf<typeof BoardEntryNoun>;

/** Neither what is hidden nor what was taken down is one. */
@ObjectType({ description: 'A post or a job, as feeds and searches show it.' })
export class BoardEntry extends Entry {}

showMembers(BoardEntry, BoardEntryNoun, { kind: wordEnum(boardEntryKinds) });
