import { ObjectType } from 'type-graphql';
import { DisputeNoun, SignedDisputeNoun } from '../../../schema/dispute/dispute.ts';
import type { ClaimType, DisputeOutcome, DisputeReason } from '../../../schema/dispute/reasons.ts';
import type { AgentId, DisputeId } from '../../../schema/ids.ts';
import { showMembers, showsNoun } from '../../graph-type.ts';
import { Entity, Index, PrimaryKey, Property, Unique } from '../../table.ts';

/**
 * A dispute of one row: one claim with one evidence. A refund is final. Any other outcome is judged again when the same request is
 * sent after the records have changed. Each judgement is an event of the row.
 */
@ObjectType({
  description:
    'Dispute of a row of a book: a claim about the row, and what the records of this service decide. It moves no money.',
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
  @PrimaryKey({ type: 'text' })
  disputeId!: DisputeId;

  @Property({ type: 'integer' })
  agentId!: AgentId;

  @Property({ type: 'integer' })
  seq!: number;

  @Property({ type: 'text' })
  taskId!: string;

  @Property({ type: 'text' })
  claimType!: ClaimType;

  @Property({ type: 'text' })
  evidenceHash!: string;

  @Property({ type: 'text', nullable: true })
  outcome!: DisputeOutcome | null;

  @Property({ type: 'text' })
  reason!: DisputeReason;

  @Property({ type: 'integer' })
  position!: number;

  @Property({ type: 'Date', columnType: 'timestamptz' })
  filedAt!: Date;

  @Property({ type: 'Date', columnType: 'timestamptz' })
  judgedAt!: Date;

  @Property({ type: 'integer', default: 1 })
  revision!: number;

  @Property({ type: 'text', nullable: true })
  supersedes!: string | null;

  @Property({ type: 'text', nullable: true })
  standingTaskId!: string | null;

  /** Time after which an open dispute can be decided. Null if no time is known. Not shown once the dispute is decided. */
  @Property({ type: 'Date', columnType: 'timestamptz', nullable: true })
  decidesAfter!: Date | null;

  /** Task of the charge that a refund owes back, unique over all disputes. Null without a refund, and for refunds by rules 1 and 2. */
  @Property({ type: 'text', nullable: true, unique: 'dispute_refund_of' })
  refundOf!: string | null;

  /** Signed document in canonical JSON. */
  @Property({ type: 'text' })
  verdict!: string;
}
showMembers(Dispute, SignedDisputeNoun);
showsNoun(Dispute, DisputeNoun);
