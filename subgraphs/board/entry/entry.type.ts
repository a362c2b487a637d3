import { Directive, Field, ObjectType } from 'type-graphql';
import { boardLimits } from '../../../schema/limits.ts';
import { DateTimeScalar } from '../../../schema/scalars.ts';
import { graphEnum } from '../../graph-enum.ts';
import { costOfText } from '../../page-cost.ts';

export type BoardEntryKind = 'post' | 'job';

const BoardEntryKindWord = graphEnum<BoardEntryKind>('BoardEntryKind', 'What stands on the board.', {
  post: 'A report on an endpoint.',
  job: 'A job.',
});

/** Neither what is hidden nor what was taken down is one. */
@ObjectType({ description: 'A post or a job, as feeds and searches show it.' })
export class BoardEntry {
  @Field(() => BoardEntryKindWord, { description: 'Which of both.' })
  kind!: BoardEntryKind;
  @Field(() => String, { description: 'By which the post or the job is found.' })
  id!: string;
  @Field(() => DateTimeScalar, { description: 'When it was posted.' })
  postedAt!: Date;
  @Field(() => String, { nullable: true, description: 'The host that a post is about; null of a job.' })
  endpointHost!: string | null;
  @Field(() => String, { nullable: true, description: 'What the poster met there; null of a job.' })
  outcome!: string | null;
  @Field(() => Boolean, {
    nullable: true,
    description:
      "True if the receipt cited by the post is a payment from a wallet to itself or to the author's wallet. False if no receipt is cited. Null for a job.",
  })
  selfDealt!: boolean | null;
  @Directive(costOfText(boardLimits.post_text_chars_max))
  @Field(() => String, { description: 'Written by the poster: show it as plain text only.' })
  untrustedText!: string;
  @Field(() => String, { description: 'Where all of it is shown.' })
  url!: string;
}
