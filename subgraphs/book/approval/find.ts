import type { AgentId } from '../../../schema/ids.ts';
import { type ApprovalStatus, approvalStatusOf } from '../../../schema/session/approval.ts';
import type { Database, Tx } from '../../database.ts';
import type { ApprovalRequest } from './approval-request.entity.ts';
import { TAKEN, TTL_SECONDS } from './columns.ts';

/** An approval request, with facts from its book and its claim. */
export interface FoundApproval extends Omit<ApprovalRequest, 'takenBy'> {
  readonly taken: boolean;
  /** Seconds for which an approval is valid under the current policy of the book. */
  readonly ttlSeconds: number;
  /** Time by the clock of the database. */
  readonly now: Date;
}

export type ApprovalsWanted =
  | { readonly approval_id: string; readonly agent_id?: AgentId }
  /** The newest requests of a book. */
  | { readonly agent_id: AgentId; readonly limit: number; readonly before?: string | null }
  /** The oldest open request of a book for a call of a session below `over`, with another key than `but`. */
  | { readonly agent_id: AgentId; readonly request_hash: string; readonly over: string; readonly but: string };

const SELECT = `select approval_id as "approvalId", a.agent_id as "agentId", request_hash as "requestHash",
    amount_atomic as "amountAtomic", payer, delegation_hash as "delegationHash", session_path as "sessionPath",
    agent_address as "agentAddress", field, model, a.seq, task_id as "taskId", policy_code as "policyCode",
    asked_at as "askedAt", open_until as "openUntil", decision, decided_at as "decidedAt", decided_by as "decidedBy",
    text_box as "textBox",
    ${TAKEN} as taken, ${TTL_SECONDS} as "ttlSeconds", clock_timestamp() as now
  from approval_request a join book b on b.agent_id = a.agent_id`;

const statements = {
  byId: `${SELECT} where approval_id = $1 and ($2::int is null or a.agent_id = $2)`,
  ofBook: `${SELECT} where a.agent_id = $1 order by approval_id desc limit $2`,
  ofBookBefore: `${SELECT} where a.agent_id = $1 and approval_id < $3 order by approval_id desc limit $2`,
  ofCall: `${SELECT} where request_hash = $1 and decision is null and open_until > clock_timestamp()
    and session_path ? $2 and delegation_hash <> $2 and agent_address <> $3 and a.agent_id = $4
    order by approval_id limit 1`,
} as const;

type Reading = Pick<Database, 'query'> | Pick<Tx, 'query'>;

export async function findApprovals(reading: Reading, wanted: ApprovalsWanted): Promise<readonly FoundApproval[]> {
  const found = await reading.query<FoundApproval & Record<string, unknown>>(statementOf(wanted));
  return 'rows' in found ? found.rows : found;
}

function statementOf(wanted: ApprovalsWanted) {
  if ('approval_id' in wanted)
    return {
      name: 'approval request',
      text: statements.byId,
      values: [wanted.approval_id, wanted.agent_id ?? null],
    };
  if ('request_hash' in wanted)
    return {
      name: 'approval request of call',
      text: statements.ofCall,
      values: [wanted.request_hash, wanted.over, wanted.but, wanted.agent_id],
    };
  const { agent_id, limit, before = null } = wanted;
  // The first page has its own statement, because a shared plan for any `before` would scan all newer rows.
  return before === null
    ? { name: 'newest approval requests of book', text: statements.ofBook, values: [agent_id, limit] }
    : { name: 'approval requests of book', text: statements.ofBookBefore, values: [agent_id, limit, before] };
}

/** Time until which an approval is valid. Null if the request was not approved. */
export function passesUntil({ decision, decidedAt, ttlSeconds }: FoundApproval): Date | null {
  return decision === 'approve' && decidedAt ? new Date(decidedAt.getTime() + ttlSeconds * 1_000) : null;
}

export function statusOfApproval(found: FoundApproval, now_ms = found.now.getTime()): ApprovalStatus {
  const { decision, taken, openUntil } = found;
  const passes_until_ms = passesUntil(found)?.getTime() ?? null;
  return approvalStatusOf({ decision, taken, open_until_ms: openUntil.getTime(), passes_until_ms }, now_ms);
}
