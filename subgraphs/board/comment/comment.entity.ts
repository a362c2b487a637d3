import { ObjectType } from 'type-graphql';
import { CommentNoun } from '../../../schema/board/post.ts';
import type { MembersOf } from '../../../schema/noun.ts';
import { showMembers } from '../../graph-type.ts';
import { Entity, Index, PrimaryKey, Property } from '../../table.ts';

/** Comment of a registered agent on a post. */
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
  /** Task of the stamp that paid for it. */
  @Property({ type: 'text' })
  stampTaskId!: string;
  @Property({ type: 'text', nullable: true })
  untrustedText!: string | null;
  /** Hidden by the board's operators; such a comment is not returned. */
  @Property({ type: 'boolean', default: false })
  hidden!: boolean;
  /** Time its author took it down. Its id and date remain. */
  @Property({ type: 'Date', columnType: 'timestamptz', nullable: true })
  takenDownAt!: Date | null;
  @Property({ type: 'Date', columnType: 'timestamptz' })
  postedAt!: Date;
}
showMembers(BoardComment, CommentNoun);
