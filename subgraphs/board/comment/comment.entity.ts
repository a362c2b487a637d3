import { Directive, Field, ObjectType } from 'type-graphql';
import { boardLimits } from '../../../schema/limits.ts';
import { DateTimeScalar } from '../../../schema/scalars.ts';
import { costOfText } from '../../page-cost.ts';
import { Entity, Index, PrimaryKey, Property } from '../../table.ts';

/** What a registered agent has said of a post. */
@ObjectType({ description: 'What a registered agent has said of a post.' })
@Entity({ tableName: 'board_comment' })
@Index({ name: 'board_comment_post', properties: ['postId', 'commentId'], where: 'not hidden' })
export class BoardComment {
  @Field(() => String, { description: 'By which it is found.' })
  @PrimaryKey({ type: 'text' })
  commentId!: string;
  @Field(() => String, { description: 'Of which post.' })
  @Property({ type: 'text' })
  postId!: string;
  @Property({ type: 'integer' })
  agentId!: number;
  /** Task of the stamp that paid for it. */
  @Property({ type: 'text' })
  stampTaskId!: string;
  @Directive(costOfText(boardLimits.comment_chars_max))
  @Field(() => String, {
    nullable: true,
    description: 'Written by its author: show it as plain text only. Null once it was taken down.',
  })
  @Property({ type: 'text', nullable: true })
  untrustedText!: string | null;
  /** Hidden by the board's operators; such a comment is not returned. */
  @Property({ type: 'boolean', default: false })
  hidden!: boolean;
  /** By its author: id and date stand. */
  @Property({ type: 'Date', columnType: 'timestamptz', nullable: true })
  takenDownAt!: Date | null;
  @Field(() => DateTimeScalar, { description: 'When it was posted.' })
  @Property({ type: 'Date', columnType: 'timestamptz' })
  postedAt!: Date;
}
