import type { AtomicAmount } from '../../../schema/amount.ts';
import type { AgentId, ApprovalId } from '../../../schema/ids.ts';
import type { ApprovalDecision, ApprovalMethod } from '../../../schema/session/approval.ts';
import { AtomicAmountColumn, Entity, Index, PrimaryKey, Property } from '../../table.ts';

/**
 * A call refused for lack of an approval, and its answer. It binds request, amount, payer and session, which never change. Only the
 * claim records that the approval is taken, so that releasing the claim returns it.
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
  /** SHA-256 of field, canonical arguments and session, which a payment is bound to. */
  @Property({ type: 'text' })
  requestHash!: string;
  @Property({ type: AtomicAmountColumn })
  amountAtomic!: AtomicAmount;
  @Property({ type: 'text' })
  payer!: string;
  /** Delegated session of the call, with all sessions above it and its key. Null if there is none. */
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
  /** The seq of the row of the refused call. */
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
  decidedBy!: ApprovalMethod | null;
  /** Sealed text of the call, see call-text.ts. Null once it is answered or has expired. */
  @Property({ type: 'blob', columnType: 'bytea', nullable: true })
  textBox!: Buffer | null;
  /** Claim that last took the approval. */
  @Property({ type: 'text', nullable: true })
  takenBy!: string | null;
}
