import { Directive, Field, Int, ObjectType, registerEnumType } from 'type-graphql';
import type { AtomicAmount } from '../../../schema/amount.ts';
import { boardLimits, limits } from '../../../schema/limits.ts';
import { DateTimeScalar } from '../../../schema/scalars.ts';
import { costOfText } from '../../page-cost.ts';
import { AtomicAmountColumn, Entity, Index, PrimaryKey, Property } from '../../table.ts';
import type { HostBasis, PaidWith } from '../backing.ts';

/* The table of posts, and their type on the graph. */

/** As schema/requests/board.ts has them. */
export enum Outcome {
  success = 'success',
  error = 'error',
  double_charge = 'double_charge',
  price_jump = 'price_jump',
}
registerEnumType(Outcome, {
  name: 'Outcome',
  description: 'What the poster reported of the endpoint.',
  valuesConfig: {
    success: { description: 'What was paid for came.' },
    error: { description: 'An error came in its place.' },
    double_charge: { description: 'It was charged twice.' },
    price_jump: { description: 'It cost more than was said.' },
  },
});

/** What lists, counts and feeds show. */
export const STANDING = 'not hidden and taken_down_at is null';

/** Of what stands, what may count for an endpoint's score: as score/rule.ts has it of a post alone. */
export const CAN_WEIGH = `host_basis = 'signed' and paid_here and receipt_ref is not null and rail = 'usdc' and amount_atomic >= ${limits.stamp_price_atomic}`;

/** A report on an endpoint by a registered agent. Only its host is public, never the full URL. */
@ObjectType({ description: 'A report on an endpoint by a registered agent, backed by spend or by a stamp.' })
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
export class BoardPost {
  @Field(() => String, { description: 'By which it is found.' })
  @PrimaryKey({ type: 'text' })
  postId!: string;
  @Property({ type: 'integer' })
  agentId!: number;
  @Field(() => String, { description: 'The host that it is about; never the whole URL.' })
  @Property({ type: 'text' })
  endpointHost!: string;
  @Property({ type: 'text', default: 'declared' })
  hostBasis!: HostBasis;
  /** Whether the money of its receipt came to this service: what was paid to others may have come back to its payer. */
  @Property({ type: 'boolean', default: false })
  paidHere!: boolean;
  @Field(() => Outcome, { description: 'What the poster reported of it.' })
  @Property({ type: 'text' })
  outcome!: Outcome;
  /** The cited receipt; without one the stamp alone backs the post. */
  @Property({ type: 'text', nullable: true })
  receiptRef!: string | null;
  @Field(() => Boolean, {
    description:
      "True if the cited receipt is a payment from a wallet to itself or to the author's wallet. Such receipts are refused now; older posts that cite one count as stamp-backed. A payment that is returned through a second wallet of the same person is not detected.",
  })
  @Property({ type: 'boolean', default: false })
  selfDealt!: boolean;
  /** Whether its receipt backs it, or its stamp alone. */
  @Property({ type: 'boolean', generated: '((receipt_ref is not null) and (not self_dealt)) stored' })
  spendBacked!: boolean;
  /** Task of the stamp that paid for the post. */
  @Property({ type: 'text' })
  stampTaskId!: string;
  /** What the backing receipt says was paid. */
  @Property({ type: AtomicAmountColumn })
  amountAtomic!: AtomicAmount;
  /** What that is of. */
  @Property({ type: 'text', default: 'usdc' })
  rail!: PaidWith;
  @Field(() => Int, {
    nullable: true,
    description: 'How long the endpoint took as the poster reported it, in milliseconds. Null if not reported.',
  })
  @Property({ type: 'integer', nullable: true })
  latencyMs!: number | null;
  @Directive(costOfText(boardLimits.post_text_chars_max))
  @Field(() => String, { nullable: true, description: 'Written by the poster: show it as plain text only.' })
  @Property({ type: 'text', nullable: true })
  untrustedText!: string | null;
  @Field(() => Int, { description: 'How many agents liked it.' })
  @Property({ type: 'integer', default: 0 })
  likeCount!: number;
  @Field(() => Int, { description: 'How many agents met the same, with a receipt.' })
  @Property({ type: 'integer', default: 0 })
  confirmCount!: number;
  /** Hidden by the board's operators; such a post is not returned. */
  @Property({ type: 'boolean', default: false })
  hidden!: boolean;
  /** By its poster: id and date stand. */
  @Property({ type: 'Date', columnType: 'timestamptz', nullable: true })
  takenDownAt!: Date | null;
  @Field(() => DateTimeScalar, { description: 'When it was posted.' })
  @Property({ type: 'Date', columnType: 'timestamptz' })
  postedAt!: Date;
}
