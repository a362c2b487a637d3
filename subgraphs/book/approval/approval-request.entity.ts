import type { AtomicAmount } from '../../../schema/amount.ts';
import type { AgentId, ApprovalId } from '../../../schema/ids.ts';
import type { ApprovalDecision, ApprovalMeans } from '../../../schema/session/approval.ts';
import { AtomicAmountColumn, Entity, Index, PrimaryKey, Property } from '../../table.ts';

/**
 * A call that its book refused for want of an approval, and what was answered. It binds request, amount, payer and session:
 * none of these changes. Whether its approval is taken is said by the claim that took it, so that whatever lets go of the
 * claim gives it back, and nothing else has to.
 */
@Entity({ tableName: 'approval_request' })
@Index({ name: 'approval_request_call', properties: ['agentId', 'requestHash', 'approvalId'] })
@Index({ name: 'approval_request_open', properties: ['agentId', 'openUntil'], where: 'decision is null' })
@Index({ name: 'approval_request_hash', properties: ['requestHash'], where: 'decision is null' })
@Index({ name: 'approval_request_forget', properties: ['openUntil'] })
@Index({ name: 'approval_request_texts', properties: ['openUntil'], where: 'text_box is not null' })
export class ApprovalRequest {
  @PrimaryKey({ type: 'text' })
  approvalId!: ApprovalId;
  @Property({ type: 'integer' })
  agentId!: AgentId;
  /** SHA-256 of field, canonical arguments and session: what a payment is bound to. */
  @Property({ type: 'text' })
  requestHash!: string;
  @Property({ type: AtomicAmountColumn })
  amountAtomic!: AtomicAmount;
  @Property({ type: 'text' })
  payer!: string;
  /** Of the delegated session that it was asked for under, with all that stand over it and its key; null where there is none. */
  @Property({ type: 'text', nullable: true })
  delegationHash!: string | null;
  @Property({ type: 'json', columnType: 'jsonb', nullable: true })
  sessionPath!: readonly string[] | null;
  @Property({ type: 'text', nullable: true })
  agentAddress!: string | null;
  @Property({ type: 'text' })
  field!: string;
  @Property({ type: 'text', nullable: true })
  model!: string | null;
  /** Of the row of the refused call. */
  @Property({ type: 'integer' })
  seq!: number;
  @Property({ type: 'text' })
  taskId!: string;
  @Property({ type: 'text' })
  policyCode!: string;
  @Property({ type: 'Date', columnType: 'timestamptz' })
  askedAt!: Date;
  @Property({ type: 'Date', columnType: 'timestamptz' })
  openUntil!: Date;
  @Property({ type: 'text', nullable: true })
  decision!: ApprovalDecision | null;
  @Property({ type: 'Date', columnType: 'timestamptz', nullable: true })
  decidedAt!: Date | null;
  @Property({ type: 'text', nullable: true })
  decidedBy!: ApprovalMeans | null;
  /** What the call asks for, sealed: see asked-text.ts. Null once it is answered or its time is over. */
  @Property({ type: 'blob', columnType: 'bytea', nullable: true })
  textBox!: Buffer | null;
  /** The claim that took its approval last. */
  @Property({ type: 'text', nullable: true })
  takenBy!: string | null;
}
