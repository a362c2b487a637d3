import { Field, Int, ObjectType } from 'type-graphql';
import {
  type ClaimType,
  claimTypes,
  type DisputeOutcome,
  type DisputeReason,
  disputeOutcomes,
  disputeReasons,
} from '../../../schema/dispute/reasons.ts';
import type { AgentId, DisputeId } from '../../../schema/ids.ts';
import { DateTimeScalar } from '../../../schema/scalars.ts';
import { graphEnum, wordEnum } from '../../graph-enum.ts';
import { Entity, Index, PrimaryKey, Property, Unique } from '../../table.ts';

export const ClaimTypeWord = wordEnum(claimTypes);
export const DisputeOutcomeWord = wordEnum(disputeOutcomes);
export const DisputeReasonWord = graphEnum<DisputeReason>(
  'DisputeReason',
  'By what a dispute was decided, or is open.',
  Object.fromEntries(Object.entries(disputeReasons).map(([reason, [, sentence]]) => [reason, sentence])) as Record<
    DisputeReason,
    string
  >,
);

/**
 * A dispute of one row by one claim with one evidence. A refund is final: nothing of it changes. What is open, stands or is partial
 * may be judged again, by the same request, once the records come to another end. Each judgement is an event of the row.
 */
@ObjectType({
  description: 'What was claimed of a row, and what the records of this service decide. No money moves by it.',
})
@Entity({ tableName: 'dispute' })
@Unique({ name: 'dispute_claim', properties: ['agentId', 'taskId', 'claimType', 'evidenceHash'] })
@Index({ name: 'dispute_book', properties: ['agentId', 'disputeId'] })
@Index({ name: 'dispute_filed', properties: ['agentId', 'filedAt'] })
@Index({
  name: 'dispute_refund',
  expression: `create index dispute_refund on dispute (agent_id, coalesce(refund_of, task_id)) where outcome = 'refund'`,
})
export class Dispute {
  @Field(() => String, { description: 'Its id.' })
  @PrimaryKey({ type: 'text' })
  disputeId!: DisputeId;

  @Field(() => Int, { description: 'Whose book.' })
  @Property({ type: 'integer' })
  agentId!: AgentId;

  @Field(() => Int, { description: 'The place of the disputed row.' })
  @Property({ type: 'integer' })
  seq!: number;

  @Field(() => String, { description: 'The call that the row is of.' })
  @Property({ type: 'text' })
  taskId!: string;

  @Field(() => ClaimTypeWord, { description: 'What is claimed.' })
  @Property({ type: 'text' })
  claimType!: ClaimType;

  @Field(() => String, { description: 'SHA-256 of the canonical evidence: the same again is the same dispute.' })
  @Property({ type: 'text' })
  evidenceHash!: string;

  @Field(() => DisputeOutcomeWord, { nullable: true, description: 'Null: open, since the records do not decide it.' })
  @Property({ type: 'text', nullable: true })
  outcome!: DisputeOutcome | null;

  @Field(() => DisputeReasonWord, { description: 'Why.' })
  @Property({ type: 'text' })
  reason!: DisputeReason;

  @Field(() => Int, { description: 'Of the event of the book that tells of it.' })
  @Property({ type: 'integer' })
  position!: number;

  @Field(() => DateTimeScalar, { description: 'When it was filed first.' })
  @Property({ type: 'Date', columnType: 'timestamptz' })
  filedAt!: Date;

  @Field(() => DateTimeScalar, { description: 'When it was judged last.' })
  @Property({ type: 'Date', columnType: 'timestamptz' })
  judgedAt!: Date;

  @Field(() => Int, {
    description:
      'Number of the latest judgement, from 1. It grows when the dispute is judged again with another result; each judgement has a signed document.',
  })
  @Property({ type: 'integer', default: 1 })
  revision!: number;

  @Field(() => String, {
    nullable: true,
    description: 'SHA-256 of the signed document that this one supersedes. Null for the first one.',
  })
  @Property({ type: 'text', nullable: true })
  supersedes!: string | null;

  @Field(() => String, {
    nullable: true,
    description: 'Task of the charge that stands, if two were made for the same request. Null otherwise.',
  })
  @Property({ type: 'text', nullable: true })
  standingTaskId!: string | null;

  /** Of one that was open as it was judged. */
  @Property({ type: 'Date', columnType: 'timestamptz', nullable: true })
  decidesAfter!: Date | null;

  /** Of a refund: the task of the charge that is owed back, which has no other. Refunds by rules 1 and 2 name none. */
  @Property({ type: 'text', nullable: true, unique: 'dispute_refund_of' })
  refundOf!: string | null;

  /** Canonical JSON: the document as it was signed. */
  @Property({ type: 'text' })
  verdict!: string;
}
