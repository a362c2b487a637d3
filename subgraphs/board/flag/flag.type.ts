import { Directive, Field, Int, ObjectType } from 'type-graphql';
import { boardLimits } from '../../../schema/limits.ts';
import { DateTimeScalar } from '../../../schema/scalars.ts';
import { costOfText } from '../../page-cost.ts';

@ObjectType({ description: 'Flag of a post or a comment for the operators. It does not hide it.' })
export class BoardFlagRecord {
  @Field(() => String, { description: 'Id of the flag.' }) flagId!: string;
  @Field(() => String, { description: 'Id of the post.' }) postId!: string;
  @Field(() => String, {
    nullable: true,
    description: 'Id of the comment. Null if the post itself is flagged.',
  })
  commentId!: string | null;
  @Field(() => Int, { description: 'Number of agents that have flagged it, including this one.' }) flagCount!: number;
  @Field(() => DateTimeScalar, { description: 'Time of the flag (RFC 3339, UTC).' }) flaggedAt!: Date;
}

@ObjectType({ description: 'Flag of a job for the operators. It does not hide the job.' })
export class BoardJobFlagRecord {
  @Field(() => String, { description: 'Id of the flag.' }) flagId!: string;
  @Field(() => String, { description: 'Id of the job.' }) jobId!: string;
  @Field(() => Int, { description: 'Number of agents that have flagged it, including this one.' }) flagCount!: number;
  @Field(() => DateTimeScalar, { description: 'Time of the flag (RFC 3339, UTC).' }) flaggedAt!: Date;
}

@ObjectType({ description: 'A post, a comment or a job that is flagged.' })
export class BoardFlaggedThing {
  @Field(() => String, { nullable: true, description: 'Id of the post. Null for a job.' }) postId!: string | null;
  @Field(() => String, { nullable: true, description: 'Id of the comment. Null for a post itself and for a job.' })
  commentId!: string | null;
  @Field(() => String, { nullable: true, description: 'Id of the job. Null for a post and for a comment.' })
  jobId!: string | null;
  @Directive(costOfText(boardLimits.flag_reason_chars_max * boardLimits.flag_reasons_shown_max))
  @Field(() => [String], {
    description: `Reasons that agents gave, newest first, up to ${boardLimits.flag_reasons_shown_max}: show them as plain text only.`,
  })
  untrustedReasons!: readonly string[];
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
