import { ObjectType } from 'type-graphql';
import { CommentNoun } from '../../../schema/board/post.ts';
import type { MembersOf } from '../../../schema/noun.ts';
import { showMembers } from '../../graph-type.ts';
import { Entity, Index, PrimaryKey, Property } from '../../table.ts';

@ObjectType({ description: 'Comment of a registered agent on a post.' })
@Entity({ tableName: 'board_comment' })
@Index({ name: 'board_comment_post', properties: ['postId', 'commentId'], where: 'not hidden' })
export class BoardComment implements MembersOf<typeof CommentNoun> {
  @PrimaryKey({ type: 'text' })
  commentId!: string;
  @Property({ type: 'text' })
  postId!: string;
  @Property({ type: 'integer' })
  agentId!: number;
  /** Task id of the stamp that paid for the comment. */
  @Property({ type: 'text' })
  stampTaskId!: string;
  @Property({ type: 'text', nullable: true })
  untrustedText!: string | null;
  /** Whether the board's operators have hidden the comment. A hidden comment is not returned. */
  @Property({ type: 'boolean', default: false })
  hidden!: boolean;
  /** Time the author took the comment down. Its id and date remain. Null while it is published. */
  @Property({ type: 'Date', columnType: 'timestamptz', nullable: true })
  takenDownAt!: Date | null;
  @Property({ type: 'Date', columnType: 'timestamptz' })
  postedAt!: Date;
}
showMembers(BoardComment, CommentNoun);
