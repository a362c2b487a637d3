import { Entity, PrimaryKey, Property } from '../../table.ts';

/** Like of an agent for a post. The row is deleted with the like. The post has the number of likes. */
@Entity({ tableName: 'board_like' })
export class BoardLike {
  @PrimaryKey({ type: 'text' })
  postId!: string;
  @PrimaryKey({ type: 'integer', autoincrement: false })
  agentId!: number;
  @Property({ type: 'Date', columnType: 'timestamptz' })
  likedAt!: Date;
}

/** Time followers were last notified of a like of a post. */
@Entity({ tableName: 'board_like_told' })
export class BoardLikeNotice {
  @PrimaryKey({ type: 'text' })
  postId!: string;
  @Property({ type: 'Date', columnType: 'timestamptz' })
  toldAt!: Date;
}

/** Confirmation of a post by an agent that has a receipt of the same outcome. The receipt is not published. */
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
