import { approvalId } from '../../../schema/ids.ts';
import { policyLimits } from '../../../schema/limits.ts';
import { endpointsOf } from '../../../schema/paid-operations.ts';
import { iso, type Random } from '../../clock.ts';
import { insertRows, type Tx } from '../../database.ts';
import { appendEvent, type EventRecord, type Head } from '../ledger/append.ts';
import type { ReservationRequest } from '../ledger/reservation.ts';
import type { Blocked } from '../policy/evaluate.ts';
import type { StandingApprovals } from './standing.ts';

/** A refused call that may leave a request, with its row. */
export interface RefusedCall {
  readonly asked: ReservationRequest;
  readonly blocked: Blocked;
  readonly row: { readonly seq: number; readonly task_id: string };
}

/** The columns of approval_request as one is opened. */
export type OpenedApproval = Readonly<Record<string, unknown>>;

export interface AskedApproval {
  readonly head: Head;
  readonly event: EventRecord;
  readonly opened: OpenedApproval;
}

const ID_BYTES = 10;

/**
 * A call that was refused for want of an approval asks for one, right behind its row and in its transaction. Null where it
 * was refused for another reason, a key stands in for its payment, or the book has enough that is open. Nothing that
 * answers it is in the event: the token of its link is made where a webhook is told.
 */
export function askApproval(
  { random }: { readonly random: Random },
  approvals: StandingApprovals,
  head: Head,
  { asked, blocked, row }: RefusedCall,
): AskedApproval | null {
  const { agent_id, amount, payer_wallet, payment, field, model } = asked;
  if (blocked.refusal_code !== 'approval_ttl_expired' || !payment || amount === null || payer_wallet === null)
    return null;
  if (!approvals.mayAsk(asked, head.now_ms)) return null;
  const approval_id = approvalId(head.now_ms, random.bytes(ID_BYTES));
  const { approval_ttl = policyLimits.approval_ttl_seconds } = head.policy;
  const open_until_ms = head.now_ms + approval_ttl * 1_000;
  const { request_hash, session } = payment;
  const { policy_code } = blocked;
  const bound = { request_hash, payer: payer_wallet, delegation_hash: session?.delegation_hash ?? null };
  approvals.opened({ ...bound, approval_id, agent_id, amount_atomic: amount, open_until_ms });
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
  const told = appendEvent(head, { kind: 'approval', seq, task_id, body }, iso(head.now_ms));
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
  return { ...told, opened };
}

export function storeOpened(tx: Tx, opened: readonly OpenedApproval[]): void {
  insertRows(tx, 'approval_request', opened);
}
