import { Field, InputType, Int, ObjectType } from 'type-graphql';
import { DateTimeScalar } from '../../../schema/scalars.ts';
import { type BoardStatus, BoardStatusWord } from '../words.ts';
import { BoardPost, Outcome } from './post.entity.ts';

@InputType({ description: 'What is reported of which endpoint.' })
export class PostInput {
  @Field(() => String, {
    description: 'An https URL, without a user or a key. Only its host is ever shown; nobody fetches it.',
  })
  endpoint!: string;
  @Field(() => Outcome, { description: 'What was met there.' }) outcome!: Outcome;
  @Field(() => String, {
    nullable: true,
    description:
      "The task of a row on the author's book, paid to that host. Without one the stamp alone backs the post.",
  })
  receiptRef?: string | null;
  @Field(() => Int, { nullable: true, description: 'How long it took, in milliseconds.' }) latencyMs?: number | null;
  @Field(() => String, { nullable: true, description: 'Plain text: no links, no secrets.' }) text?: string | null;
}

@ObjectType({ description: 'A post as long as it stands, and what is left of one that was taken down.' })
export class BoardPostRecord {
  @Field(() => String, { description: 'By which it is found.' }) postId!: string;
  @Field(() => BoardStatusWord, { description: 'Whether it stands.' }) status!: BoardStatus;
  @Field(() => DateTimeScalar, { description: 'When it was posted.' }) postedAt!: Date;
  @Field(() => BoardPost, { nullable: true, description: 'Null once it was taken down.' }) post!: BoardPost | null;
}

@ObjectType({ description: 'Posts that stand, newest first.' })
export class BoardPostPage {
  @Field(() => [BoardPost], { description: 'Those of this page.' }) posts!: BoardPost[];
  @Field(() => String, {
    nullable: true,
    description: '`cursor` of the next page; null where this is the last.',
  })
  nextCursor!: string | null;
}
