import { approvalId } from '../../../schema/ids.ts';
import { policyLimits } from '../../../schema/limits.ts';
import { endpointsOf } from '../../../schema/paid-operations.ts';
import { iso, type Random } from '../../clock.ts';
import { insertRows, type Tx } from '../../database.ts';
import { appendEvent, type EventRecord, type Head } from '../ledger/append.ts';
import type { ReservationRequest } from '../ledger/reservation.ts';
import type { Blocked } from '../policy/evaluate.ts';
import type { StoredApprovals } from './stored-approvals.ts';

/** A refused call, for which an approval may be requested, and its row. */
export interface RefusedCall {
  readonly request: ReservationRequest;
  readonly blocked: Blocked;
  readonly row: { readonly seq: number; readonly task_id: string };
}

/** Columns of a new approval_request. */
export type ApprovalColumns = Readonly<Record<string, unknown>>;

export interface NewApproval {
  readonly head: Head;
  readonly event: EventRecord;
  readonly opened: ApprovalColumns;
}

const ID_BYTES = 10;

/**
 * Creates an approval request for a refused call, after the row of the call and in the same transaction. Null if the call was refused
 * for another reason, if it uses an API key, or if it may not request an approval now. The event contains no credential to answer with:
 * the token of the link is derived when the message is sent.
 */
export function askApproval(
  { random }: { readonly random: Random },
  approvals: StoredApprovals,
  head: Head,
  { request, blocked, row }: RefusedCall,
): NewApproval | null {
  const { agent_id, amount, payer_wallet, payment, field, model } = request;
  if (blocked.refusal_code !== 'approval_ttl_expired' || !payment || amount === null || payer_wallet === null)
    return null;
  if (!approvals.mayAsk(request, head.now_ms)) return null;
  const approval_id = approvalId(head.now_ms, random.bytes(ID_BYTES));
  const { approval_ttl = policyLimits.approval_ttl_seconds } = head.policy;
  const open_until_ms = head.now_ms + approval_ttl * 1_000;
  const { request_hash, session } = payment;
  const { policy_code } = blocked;
  const bound = { request_hash, payer: payer_wallet, delegation_hash: session?.delegation_hash ?? null };
  approvals.addOpen({ ...bound, approval_id, agent_id, amount_atomic: amount, open_until_ms });
  const open_until = iso(open_until_ms);
  const said = { field, model, policy_code };
  const body = {
    approval_id,
    status: 'open',
    ...bound,
    amount: amount.toString(),
    ...said,
    doors: endpointsOf(field),
    open_until,
  };
  const { seq, task_id } = row;
  const appended = appendEvent(head, { kind: 'approval', seq, task_id, body }, iso(head.now_ms));
  const opened = {
    approval_id,
    agent_id,
    ...bound,
    amount_atomic: amount.toString(),
    ...said,
    seq,
    task_id,
    open_until,
    session_path: session?.path ?? null,
    agent_address: session?.agent_address ?? null,
    asked_at: iso(head.now_ms),
    text_box: `\\x${payment.sealText(approval_id).toString('hex')}`,
  };
  return { ...appended, opened };
}

export function storeApprovals(tx: Tx, opened: readonly ApprovalColumns[]): void {
  insertRows(tx, 'approval_request', opened);
}
