import { Entity, PrimaryKey, Property } from '../../table.ts';

/** An agent likes a post: while the row is there. The post counts them. */
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

/** An agent has met the same, and has a receipt of it; which one is shown nowhere. */
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
