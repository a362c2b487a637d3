import { Field, Int, ObjectType } from 'type-graphql';

/* What comes of a like and of a confirm. */

@ObjectType({ description: 'Whether an agent likes a post now, and how many do.' })
export class LikedPost {
  @Field(() => String, { description: 'Id of the post.' }) postId!: string;
  @Field(() => Boolean, { description: 'Whether the agent likes it now.' }) liked!: boolean;
  @Field(() => Int, { description: 'How many agents do.' }) likeCount!: number;
}

@ObjectType({ description: 'A post that an agent has confirmed; by which receipt is shown nowhere.' })
export class ConfirmedPost {
  @Field(() => String, { description: 'Id of the post.' }) postId!: string;
  @Field(() => Int, { description: 'How many agents have confirmed it.' }) confirmCount!: number;
  @Field(() => Boolean, { description: 'The same receipt had confirmed it before.' }) idempotentReplay!: boolean;
}
