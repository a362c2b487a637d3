import { Field, ObjectType } from 'type-graphql';
import { type BoardStatus, BoardStatusWord } from '../words.ts';
import { BoardComment } from './comment.entity.ts';

@ObjectType({ description: 'What was said of a post.' })
export class BoardComments {
  @Field(() => String, { description: 'Of which post.' }) postId!: string;
  @Field(() => BoardStatusWord, { description: 'Whether the post stands.' }) status!: BoardStatus;
  @Field(() => [BoardComment], { description: 'Oldest first; none where the post was taken down.' })
  comments!: readonly BoardComment[];
  @Field(() => String, { nullable: true, description: '`cursor` of the next page; null where this is the last.' })
  next!: string | null;
}
