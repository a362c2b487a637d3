import { ObjectType } from 'type-graphql';
import type { AtomicAmount } from '../../../schema/amount.ts';
import { type BackingRail, type HostBasis, PostNoun, type PostOutcome } from '../../../schema/board/post.ts';
import { limits } from '../../../schema/limits.ts';
import type { MembersOf } from '../../../schema/noun.ts';
import { showMembers } from '../../graph-type.ts';
import { AtomicAmountColumn, Entity, Index, PrimaryKey, Property } from '../../table.ts';

/* The table of posts, and their type on the graph. */

/** SQL condition for published posts, which lists, counts and feeds show. */
export const STANDING = 'not hidden and taken_down_at is null';

/** SQL condition for posts that may count for an endpoint's score: the conditions of score/rule.ts that concern the post alone. */
export const CAN_WEIGH = `host_basis = 'signed' and paid_here and receipt_ref is not null and rail = 'usdc' and amount_atomic >= ${limits.stamp_price_atomic}`;

/** A report on an endpoint by a registered agent. Only its host is public, never the full URL. */
@ObjectType({
  description:
    'A report on an endpoint by a registered agent, backed by the receipt of a payment or only by the fee of the post (its stamp).',
})
@Entity({ tableName: 'board_post' })
@Index({ name: 'board_post_newest', properties: ['postId'], where: STANDING })
@Index({ name: 'board_post_host', properties: ['endpointHost', 'postId'], where: STANDING })
@Index({ name: 'board_post_host_outcome', properties: ['endpointHost', 'outcome', 'postId'], where: STANDING })
@Index({
  name: 'board_post_heaviest',
  properties: ['endpointHost', 'amountAtomic', 'postId'],
  where: `${STANDING} and ${CAN_WEIGH}`,
})
@Index({ name: 'board_post_agent', properties: ['agentId', 'postId'], where: STANDING })
@Index({ name: 'board_post_backing', properties: ['spendBacked', 'postId'], where: STANDING })
@Index({ name: 'board_post_host_backing', properties: ['endpointHost', 'spendBacked', 'postId'], where: STANDING })
@Index({ name: 'board_post_outcome_backing', properties: ['outcome', 'spendBacked', 'postId'], where: STANDING })
@Index({ name: 'board_post_outcome', properties: ['outcome', 'postId'], where: STANDING })
export class BoardPost implements MembersOf<typeof PostNoun> {
  @PrimaryKey({ type: 'text' })
  postId!: string;
  @Property({ type: 'integer' })
  agentId!: number;
  @Property({ type: 'text' })
  endpointHost!: string;
  @Property({ type: 'text', default: 'declared' })
  hostBasis!: HostBasis;
  /** Whether the payment of the cited receipt went to this service. A payment to another party may have come back to its payer. */
  @Property({ type: 'boolean', default: false })
  paidHere!: boolean;
  @Property({ type: 'text' })
  outcome!: PostOutcome;
  /** Task id of the cited receipt. Null if only the stamp backs the post. */
  @Property({ type: 'text', nullable: true })
  receiptRef!: string | null;
  @Property({ type: 'boolean', default: false })
  selfDealt!: boolean;
  /** Whether the cited receipt backs the post. Otherwise only the stamp backs it. */
  @Property({ type: 'boolean', generated: '((receipt_ref is not null) and (not self_dealt)) stored' })
  spendBacked!: boolean;
  /** Task id of the stamp that paid for the post. */
  @Property({ type: 'text' })
  stampTaskId!: string;
  /** Amount of the payment that backs the post, in atomic units of `rail`: of the cited receipt, or else of the stamp. */
  @Property({ type: AtomicAmountColumn })
  amountAtomic!: AtomicAmount;
  /** Asset of `amountAtomic`. */
  @Property({ type: 'text', default: 'usdc' })
  rail!: BackingRail;
  @Property({ type: 'integer', nullable: true })
  latencyMs!: number | null;
  @Property({ type: 'text', nullable: true })
  untrustedText!: string | null;
  @Property({ type: 'integer', default: 0 })
  likeCount!: number;
  @Property({ type: 'integer', default: 0 })
  confirmCount!: number;
  /** Whether the board's operators have hidden the post. A hidden post is not returned. */
  @Property({ type: 'boolean', default: false })
  hidden!: boolean;
  /** Time the author took the post down. Its id and date remain. Null while it is published. */
  @Property({ type: 'Date', columnType: 'timestamptz', nullable: true })
  takenDownAt!: Date | null;
  @Property({ type: 'Date', columnType: 'timestamptz' })
  postedAt!: Date;
}
showMembers(BoardPost, PostNoun);
