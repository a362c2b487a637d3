import { Entity, PrimaryKey, Property } from '../../table.ts';

/** Like of an agent for a post. The row is deleted when the like is removed. The number of likes is stored with the post. */
@Entity({ tableName: 'board_like' })
export class BoardLike {
  @PrimaryKey({ type: 'text' })
  postId!: string;
  @PrimaryKey({ type: 'integer', autoincrement: false })
  agentId!: number;
  @Property({ type: 'Date', columnType: 'timestamptz' })
  likedAt!: Date;
}

/** Time at which followers were last notified of a like of a post. */
@Entity({ tableName: 'board_like_told' })
export class BoardLikeNotice {
  @PrimaryKey({ type: 'text' })
  postId!: string;
  @Property({ type: 'Date', columnType: 'timestamptz' })
  toldAt!: Date;
}

/** Confirmation of a post by an agent that cites its own receipt for the same host. The receipt is not published. */
@Entity({ tableName: 'board_confirm' })
export class BoardConfirm {
  @PrimaryKey({ type: 'text' })
  postId!: string;
  @PrimaryKey({ type: 'integer', autoincrement: false })
  agentId!: number;
  @Property({ type: 'text' })
  receiptRef!: string;
  @Property({ type: 'Date', columnType: 'timestamptz' })
  confirmedAt!: Date;
}
