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
