import type { AtomicAmount } from '../../../schema/amount.ts';
import type { AgentId, ApprovalId } from '../../../schema/ids.ts';
import type { ApprovalDecision, ApprovalMethod } from '../../../schema/session/approval.ts';
import { AtomicAmountColumn, Entity, Index, PrimaryKey, Property } from '../../table.ts';

/**
 * A call that was refused because it requires an approval, and the answer. Request, amount, payer and session never change. The
 * approval counts as taken only while its claim is not released, so that releasing the claim makes it available again.
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
  /** SHA-256 over the field, the canonical arguments and the session of the call. Its payment is bound to this hash. */
  @Property({ type: 'text' })
  requestHash!: string;
  @Property({ type: AtomicAmountColumn })
  amountAtomic!: AtomicAmount;
  @Property({ type: 'text' })
  payer!: string;
  /** Hash of the delegated session of the call. Null if it used none. */
  @Property({ type: 'text', nullable: true })
  delegationHash!: string | null;
  /** Hashes of that session and of all sessions above it. Null without a session. */
  @Property({ type: 'json', columnType: 'jsonb', nullable: true })
  sessionPath!: readonly string[] | null;
  /** Address of the key of that session. Null without a session. */
  @Property({ type: 'text', nullable: true })
  agentAddress!: string | null;
  @Property({ type: 'text' })
  field!: string;
  @Property({ type: 'text', nullable: true })
  model!: string | null;
  /** Seq of the row of the refused call. */
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
  /** Sealed text of the call, see call-text.ts. Null once the request is answered or has expired. */
  @Property({ type: 'blob', columnType: 'bytea', nullable: true })
  textBox!: Buffer | null;
  /** Key of the claim that last took the approval. Null if none has. */
  @Property({ type: 'text', nullable: true })
  takenBy!: string | null;
}
