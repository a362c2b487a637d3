import type { AgentId, ApprovalId } from '../../../schema/ids.ts';
import { approvalLimits, policyLimits } from '../../../schema/limits.ts';
import type { Approval } from '../../../schema/policy-rule.ts';
import { type ApprovalDecision } from '../../../schema/session/approval.ts';
import type { Tx } from '../../database.ts';
import type { ReservationRequest } from '../ledger/reservation.ts';
import { ms, TAKEN } from './columns.ts';

/** An answered or open approval request. */
interface StandingApproval {
  readonly approval_id: ApprovalId;
  readonly agent_id: AgentId;
  readonly request_hash: string;
  readonly amount_atomic: bigint;
  readonly payer: string;
  readonly delegation_hash: string | null;
  readonly decision: ApprovalDecision | null;
  readonly decided_ms: number | null;
  readonly open_until_ms: number;
  readonly taken: boolean;
}

export interface UsableApproval extends Approval {
  readonly approval_id: ApprovalId;
}

/** A denial is in force for the longest time for which any approval can be valid. */
const DENIED_MS = policyLimits.approval_ttl_seconds_max * 1_000;

type ApprovalCall = Pick<ReservationRequest, 'agent_id' | 'amount' | 'payer_wallet' | 'payment'>;

/**
 * Approvals of the calls of a batch, read under the locks of their heads. An approval that one call takes is not available to later
 * calls of the batch. It is stored as taken together with the claim, so that only one of several concurrent calls passes.
 */
export class StoredApprovals {
  readonly #found: StandingApproval[];
  readonly #open: Map<AgentId, number>;
  readonly #taken = new Map<ApprovalId, string>();

  private constructor(found: readonly StandingApproval[], open: ReadonlyMap<AgentId, number>) {
    this.#found = [...found];
    this.#open = new Map(open);
  }

  /** Reads the approvals. @param items calls whose books require approvals */
  static async read(tx: Pick<Tx, 'query'>, items: readonly ApprovalCall[]): Promise<StoredApprovals> {
    const calls = items.flatMap(({ agent_id, payment }) =>
      payment ? [{ agent_id, request_hash: payment.request_hash }] : [],
    );
    if (calls.length === 0) return new StoredApprovals([], new Map());
    const { rows } = await tx.query<StandingApproval & Record<string, unknown>>({
      name: 'standing approvals',
      text: `select approval_id, agent_id, request_hash, amount_atomic, payer, delegation_hash, decision,
          ${ms('decided_at')} as decided_ms, ${ms('open_until')} as open_until_ms, ${TAKEN} as taken
        from approval_request a
        where (agent_id, request_hash) in (select n.agent_id, n.request_hash from jsonb_populate_recordset(null::approval_request, $1::jsonb) n)
          and open_until > clock_timestamp() - make_interval(secs => ${policyLimits.approval_ttl_seconds_max})
        order by approval_id desc`,
      values: [JSON.stringify(calls)],
    });
    const open = await tx.query<{ agent_id: AgentId; open: number }>({
      name: 'open approval requests',
      text: `select agent_id, count(*)::int as open from approval_request
        where agent_id = any($1) and decision is null and open_until > clock_timestamp() group by agent_id`,
      values: [[...new Set(calls.map(({ agent_id }) => agent_id))]],
    });
    return new StoredApprovals(rows, new Map(open.rows.map(row => [row.agent_id, row.open])));
  }

  /** An unused approval of exactly this call. Null if there is none. The policy decides whether the approval is recent enough. */
  approvalOf(request: ApprovalCall): UsableApproval | null {
    const approved = this.#like(request).find(
      it => it.decision === 'approve' && !this.#isTaken(it) && isOf(it, request),
    );
    if (!approved || approved.decided_ms === null) return null;
    return { approval_id: approved.approval_id, act: 'approve', at_ms: approved.decided_ms };
  }

  /** Whether a denial of exactly this call is in force. A denial overrules an approval by an act. */
  hasDenial(request: ApprovalCall, now_ms: number): boolean {
    return this.#like(request).some(it => isDenied(it, now_ms) && isOf(it, request));
  }

  take({ approval_id }: UsableApproval, claim_key: string): void {
    this.#taken.set(approval_id, claim_key);
  }

  /** Whether the call may create a request: one open per request hash, a maximum per book, and none during a denial. */
  mayAsk(request: ApprovalCall, now_ms: number): boolean {
    if (!request.payment || request.amount === null) return false;
    if ((this.#open.get(request.agent_id) ?? 0) >= approvalLimits.open_per_book_max) return false;
    if (this.hasDenial(request, now_ms)) return false;
    return !this.#like(request).some(it => it.decision === null && now_ms < it.open_until_ms);
  }

  /** Adds an open request, so that later calls of the batch take it into account. */
  addOpen(approval: Omit<StandingApproval, 'decision' | 'decided_ms' | 'taken'>): void {
    this.#found.unshift({ ...approval, decision: null, decided_ms: null, taken: false });
    this.#open.set(approval.agent_id, (this.#open.get(approval.agent_id) ?? 0) + 1);
  }

  /** Stores which claims took approvals. Call it in the transaction of those claims. */
  storeTaken(tx: Tx): void {
    if (this.#taken.size === 0) return;
    const rows = [...this.#taken].map(([approval_id, taken_by]) => ({ approval_id, taken_by }));
    tx.write({
      name: 'take approvals',
      text: `update approval_request a set taken_by = n.taken_by
        from jsonb_populate_recordset(null::approval_request, $1::jsonb) n where a.approval_id = n.approval_id`,
      values: [JSON.stringify(rows)],
    });
  }

  #like({ agent_id, payment }: ApprovalCall): readonly StandingApproval[] {
    return this.#found.filter(it => it.agent_id === agent_id && it.request_hash === payment?.request_hash);
  }

  #isTaken({ approval_id, taken }: StandingApproval): boolean {
    return taken || this.#taken.has(approval_id);
  }
}

function isDenied({ decision, decided_ms }: StandingApproval, now_ms: number): boolean {
  return decision === 'deny' && decided_ms !== null && now_ms < decided_ms + DENIED_MS;
}

function isOf(approval: StandingApproval, { amount, payer_wallet, payment }: ApprovalCall): boolean {
  return (
    approval.amount_atomic === amount &&
    approval.payer === payer_wallet &&
    approval.delegation_hash === (payment?.session?.delegation_hash ?? null)
  );
}
