import { GraphQLJSONObject } from 'graphql-scalars';
import { Field, Int, ObjectType } from 'type-graphql';
import { type AtomicAmount, parseAtomic } from '../../../schema/amount.ts';
import type { Json, JsonObject } from '../../../schema/canonical-json.ts';
import { DisputeJudgedNoun } from '../../../schema/dispute/dispute.ts';
import type { ClaimType, DisputeOutcome, DisputeReason } from '../../../schema/dispute/reasons.ts';
import { type BookEventKind, givenUpAmount } from '../../../schema/evidence.ts';
import type { PolicyCode, PolicyType } from '../../../schema/policy-kinds.ts';
import { AtomicAmountScalar, DateTimeScalar } from '../../../schema/scalars.ts';
import { objectType } from '../../graph-type.ts';
import { Entity, Index, PrimaryKey, Property } from '../../table.ts';
import { PolicyCodeWord, PolicyTypeWord } from '../../words.ts';
import { ShownAlert, shownAlert } from '../alerts/alert.type.ts';
import { BookRow } from './row.entity.ts';
import { BookEventKindWord } from './row-words.ts';

@ObjectType('AmountGivenUp', {
  description: 'Amount that left all sums of the book, because its transfer was not found.',
})
class ShownGivenUp {
  @Field(() => AtomicAmountScalar, { description: 'Amount that the row had been counted with, in atomic units.' })
  amount!: AtomicAmount;
  @Field(() => String, {
    nullable: true,
    description: 'Why the row has no amount any more, such as `no_ingress_receipt_at_cutoff`.',
  })
  omissionRule!: string | null;
}

/** The body of a `transition`; null where it took no amount away. */
function shownGivenUp(body: JsonObject): ShownGivenUp | null {
  const amount = parseAtomic(givenUpAmount(body) ?? '');
  const { omission_rule } = body;
  if (amount === null) return null;
  return { amount, omissionRule: typeof omission_rule === 'string' ? omission_rule : null };
}

@ObjectType('WouldBlock', { description: 'What a policy in shadow mode would have refused the call of a row for.' })
class ShownWouldBlock {
  @Field(() => PolicyCodeWord, { description: 'Which rule.' }) policyCode!: PolicyCode;
  @Field(() => PolicyTypeWord, { nullable: true, description: 'Where a cap of a clock period would have.' })
  policyKey!: PolicyType | null;
  @Field(() => AtomicAmountScalar, { nullable: true, description: 'Collected under that rule when it was judged.' })
  spentAtomic!: AtomicAmount | null;
  @Field(() => AtomicAmountScalar, { nullable: true, description: 'Null where no amount decides.' })
  capAtomic!: AtomicAmount | null;
  @Field(() => DateTimeScalar, { nullable: true, description: 'Null where no clock period decides.' })
  periodStart!: Date | null;
  @Field(() => DateTimeScalar, {
    nullable: true,
    description: 'When the book let the call pass, before its row landed.',
  })
  judgedAt!: Date | null;
  @Field(() => String, { description: 'Reason for the refusal, in words.' }) reason!: string;
}

/** The body of a `would_block` event, as ./would-block.ts has made it. */
function shownWouldBlock(body: JsonObject): ShownWouldBlock {
  return {
    policyCode: body.policy_code as PolicyCode,
    policyKey: (body.policy_key ?? null) as PolicyType | null,
    spentAtomic: amount(body.spent_atomic),
    capAtomic: amount(body.cap_atomic),
    periodStart: moment(body.period_start),
    judgedAt: moment(body.judged_at),
    reason: String(body.reason),
  };
}

const amount = (said: Json | undefined) => (typeof said === 'string' ? parseAtomic(said) : null);
const moment = (said: Json | undefined) => (typeof said === 'string' ? new Date(said) : null);

export const ShownDispute = objectType(
  'DisputeJudged',
  'What was claimed of the row of an event, and what came of it.',
  DisputeJudgedNoun,
);
type ShownDispute = InstanceType<typeof ShownDispute>;

/** The body of a `dispute` event, as ./file.ts has made it. */
function shownDispute(body: JsonObject): ShownDispute {
  return {
    disputeId: String(body.dispute_id),
    claimType: body.claim_type as ClaimType,
    outcome: (body.outcome ?? null) as DisputeOutcome | null,
    reason: body.reason as DisputeReason,
    verdictHash: String(body.verdict_hash),
    revision: Number(body.revision ?? 1),
    supersedes: (body.supersedes ?? null) as string | null,
  };
}

/**
 * What happened on a book, in order: gapless `position`, each hash over the one before it. Written in the transaction
 * of the fact itself, so this table is the outbox of webhooks and live rows.
 */
@ObjectType('BookRowEvent', {
  description: 'Something that happened on a book: to a row, or to what its owner allows.',
})
@Entity({ tableName: 'book_event' })
@Index({ name: 'book_event_row', properties: ['agentId', 'seq'] })
@Index({
  name: 'book_event_policy',
  properties: ['agentId', 'position'],
  where: "kind in ('policy_changed', 'budget_changed')",
})
@Index({
  name: 'book_event_alert',
  properties: ['agentId', 'kind', 'position'],
  where: "kind in ('alert', 'alerts_changed')",
})
export class BookEvent {
  @Field(() => Int, { description: 'Whose book.' })
  @PrimaryKey({ type: 'integer', autoincrement: false })
  agentId!: number;
  @Field(() => Int, { description: 'Its place among the events of the book: from 1, without a gap.' })
  @PrimaryKey({ type: 'integer', autoincrement: false })
  position!: number;
  @Field(() => BookEventKindWord, { description: 'What happened.' })
  @Property({ type: 'text' })
  kind!: BookEventKind;
  @Field(() => Int, { nullable: true, description: 'The place of its row in the book; null where it is of none.' })
  @Property({ type: 'integer', nullable: true })
  seq!: number | null;
  @Field(() => String, { nullable: true, description: 'The call that its row is of; null where it is of none.' })
  @Property({ type: 'text', nullable: true })
  taskId!: string | null;
  @Field(() => GraphQLJSONObject, {
    description: 'What is said of it, as it stands in the book for ever; `hash` covers it.',
  })
  @Property({ type: 'json' })
  body!: JsonObject;
  @Field(() => DateTimeScalar, { description: 'When it happened.' })
  @Property({ type: 'Date', columnType: 'timestamptz' })
  at!: Date;
  @Field(() => String, { description: '`hash` of the event before it; empty for the first.' })
  @Property({ type: 'text' })
  prevHash!: string;
  @Field(() => String, {
    description:
      'SHA-256 of the canonical JSON (RFC 8785) of {agent_id, position, kind, seq, task_id, body, at, prev_hash}.',
  })
  @Property({ type: 'text' })
  hash!: string;
  @Field(() => Int, {
    description: 'How many it stands for: what happens to a row too often is counted, and told once a minute.',
  })
  get count(): number {
    return typeof this.body.count === 'number' ? this.body.count : 1;
  }
  @Field(() => ShownAlert, { nullable: true, description: 'What an `alert` tells; null of all else.' })
  get alert(): ShownAlert | null {
    return this.kind === 'alert' ? shownAlert(this) : null;
  }
  @Field(() => ShownWouldBlock, { nullable: true, description: 'What a `would_block` tells; null of all else.' })
  get wouldBlock(): ShownWouldBlock | null {
    return this.kind === 'would_block' ? shownWouldBlock(this.body) : null;
  }
  @Field(() => ShownDispute, { nullable: true, description: 'What a `dispute` tells; null of all else.' })
  get dispute(): ShownDispute | null {
    return this.kind === 'dispute' ? shownDispute(this.body) : null;
  }
  @Field(() => GraphQLJSONObject, {
    nullable: true,
    description: 'What an `escrow` tells: which ledger escrow, its phase, and what came along; null of all else.',
  })
  get escrow(): JsonObject | null {
    return this.kind === 'escrow' ? this.body : null;
  }
  @Field(() => ShownGivenUp, {
    nullable: true,
    description:
      'Amount that a `transition` removed from the row. Null for a transition to `collected` and for all other kinds.',
  })
  get givenUp(): ShownGivenUp | null {
    return this.kind === 'transition' ? shownGivenUp(this.body) : null;
  }
  /** The row as it stands when the event is read. */
  @Field(() => BookRow, {
    nullable: true,
    description: 'The row as it stands when the event is read; null where it is of none.',
  })
  row!: BookRow | null;
}
