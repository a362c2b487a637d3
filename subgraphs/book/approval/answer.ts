import { Refusal } from '../../../schema/errors.ts';
import type { ApprovalDecision, ApprovalMethod } from '../../../schema/session/approval.ts';
import { iso } from '../../clock.ts';
import type { Tx } from '../../database.ts';
import { headOf, lockBooks } from '../ledger/append.ts';
import { noteApproval } from '../ledger/note-approval.ts';
import { type FoundApproval, findApprovals, statusOfApproval } from './find.ts';

export interface GivenAnswer {
  readonly decision: ApprovalDecision;
  readonly by: ApprovalMethod;
}

/**
 * Answers an approval request once and appends an event. It holds the lock of the head, which a call that takes the approval needs
 * too. Repeating the same answer changes nothing. The caller has checked the right to answer. @throws book_damaged, approval_closed
 */
export async function answerApproval(tx: Tx, found: FoundApproval, answer: GivenAnswer): Promise<FoundApproval> {
  const { approvalId, agentId } = found;
  const books = await lockBooks(tx, [agentId]);
  const head = headOf(books, agentId);
  if (head.damaged) throw new Refusal('book_damaged');
  const standing = await readAgain(tx, found);
  const { decision, by } = answer;
  if (standing.decision === decision) return standing;
  const status = statusOfApproval(standing, head.now_ms);
  if (status !== 'open') throw new Refusal('approval_closed', { facts: { approval_status: status } });
  const decided_at = iso(head.now_ms);
  tx.write({
    name: 'answer approval request',
    text: 'update approval_request set decision = $2, decided_by = $3, decided_at = $4, text_box = null where approval_id = $1',
    values: [approvalId, decision, by, decided_at],
  });
  const answered = await readAgain(tx, found);
  const passes_until = decision === 'approve' ? iso(head.now_ms + answered.ttlSeconds * 1_000) : null;
  noteApproval(tx, head, answered, {
    approval_id: approvalId,
    status: decision === 'approve' ? 'approved' : 'denied',
    decided_by: by,
    request_hash: answered.requestHash,
    passes_until,
  });
  return answered;
}

async function readAgain(tx: Tx, { approvalId }: FoundApproval): Promise<FoundApproval> {
  const [found] = await findApprovals(tx, { approval_id: approvalId });
  if (!found) throw new Refusal('not_found');
  return found;
}
