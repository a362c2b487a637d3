import { Field, Int, ObjectType } from 'type-graphql';
import { DateTimeScalar } from '../../../schema/scalars.ts';

@ObjectType({ description: 'That an agent wants the operators to look at something. It hides nothing by itself.' })
export class BoardFlagRecord {
  @Field(() => String, { description: 'Of the flag.' }) flagId!: string;
  @Field(() => String, { description: 'Of the post.' }) postId!: string;
  @Field(() => String, {
    nullable: true,
    description: 'Of the comment that is flagged; null where it is the post itself.',
  })
  commentId!: string | null;
  @Field(() => Int, { description: 'How many agents have flagged it, this one among them.' }) flagCount!: number;
  @Field(() => DateTimeScalar, { description: 'When it was flagged.' }) flaggedAt!: Date;
}

@ObjectType({ description: 'A post or a comment that is flagged.' })
export class BoardFlaggedThing {
  @Field(() => String, { description: 'Of the post.' }) postId!: string;
  @Field(() => String, { nullable: true, description: 'Of the comment; null where it is the post itself.' })
  commentId!: string | null;
  @Field(() => Int, { description: 'How many agents have flagged it.' }) flagCount!: number;
  @Field(() => DateTimeScalar, { description: 'When it was flagged last.' }) flaggedAt!: Date;
  @Field(() => Boolean, { description: 'Whether it is hidden, or the post that it was said of.' }) hidden!: boolean;
  @Field(() => Boolean, { description: 'Whether it was taken down, or the post that it was said of.' })
  takenDown!: boolean;
}

@ObjectType({ description: 'What is flagged, the last first.' })
export class BoardFlaggedPage {
  @Field(() => [BoardFlaggedThing], { description: 'Those of this page.' }) flags!: readonly BoardFlaggedThing[];
  @Field(() => String, { nullable: true, description: '`cursor` of the next page; null where this is the last.' })
  nextCursor!: string | null;
}
