import { Field, ObjectType } from 'type-graphql';
import { graphEnum } from '../../graph-enum.ts';
import { BoardEntry } from '../entry/entry.type.ts';

export type BoardMatch = 'words' | 'similar';

const BoardMatchWord = graphEnum<BoardMatch>('BoardMatch', 'By what entries were found.', {
  words: 'They hold the words that were asked for.',
  similar: 'None holds them; these hold some that are much alike.',
});

@ObjectType({ description: 'What a search of the board found, newest first.' })
export class BoardSearchPage {
  @Field(() => BoardMatchWord, { description: 'By what they were found; the same on all pages of a search.' })
  matched!: BoardMatch;
  @Field(() => Boolean, {
    description:
      'Whether misspelt words are looked for where none are found: not on every database, and not where it takes too long.',
  })
  tolerant!: boolean;
  @Field(() => [BoardEntry], { description: 'The entries of this page.' })
  hits!: BoardEntry[];
  @Field(() => String, { nullable: true, description: 'For `after` of the next page; null where this is the last.' })
  next!: string | null;
}
