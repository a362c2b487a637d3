import { type AtomicAmount, atomicAmount } from '../../../schema/amount.ts';
import type { AgentId } from '../../../schema/ids.ts';
import { type CallPayment, type ReservationRequest } from '../../../subgraphs/book/ledger/reservation.ts';
import type { Tx } from '../../../subgraphs/database.ts';
import { type ClaimRequest } from '../../../subgraphs/receipt/claim/claim.ts';
import type { RequestedCall } from '../../../subgraphs/requested-call.ts';
import { agentsOfWallets } from '../../../subgraphs/session/agent/find.ts';
import { approvingAct, type ClaimedUnder } from './under-sessions.ts';

/** A requested claim, and what its book is told of the call. */
export interface Claiming {
  readonly request: Omit<ClaimRequest, 'agent_id' | 'reserved_atomic'>;
  /** `payers`: the payer's own book if there is one, looked up in the claim's transaction. */
  readonly book: AgentId | null | 'payers';
  /** Amount reserved on that book, which is asked only if it is not 0. */
  readonly holds_atomic: AtomicAmount;
  readonly call: RequestedCall;
  /** The sealed text that is shown to a person who is to approve the call. */
  readonly sealText: CallPayment['sealText'];
  /** The session that pays; undefined without a grant. */
  readonly under?: ClaimedUnder;
}

/** A claim with its book and the question to it. */
export interface PlacedClaim {
  readonly request: ClaimRequest;
  /** The question to its book; null if the order reserves nothing. */
  readonly asked: ReservationRequest | null;
  readonly under: ClaimedUnder | null;
}

/** One look-up for all wallets whose book is needed, also for their acts to approve. */
export async function placeClaims(tx: Tx, claimings: readonly Claiming[]): Promise<readonly PlacedClaim[]> {
  const wallets = claimings.flatMap(({ book, request, under }) => [
    ...(book === 'payers' ? [request.payer] : []),
    ...(under?.approval?.root_payer ? [under.approval.root_payer] : []),
  ]);
  const agents = await agentsOfWallets(tx, [...new Set(wallets)]);
  return claimings.map(({ request: wanted, book, holds_atomic, call, sealText, under = null }) => {
    const agent_id = book === 'payers' ? (agents.get(wanted.payer) ?? null) : book;
    const reserved_atomic = agent_id === null ? atomicAmount(0n) : holds_atomic;
    const approval = approvingAct(under, agent_id, agents);
    const request = { ...wanted, agent_id, reserved_atomic, ...(approval && { approved: true }) };
    const asked = askingOf(request, call, { under, sealText });
    return { request, asked: asked && approval ? { ...asked, approval } : asked, under };
  });
}

type Approving = Pick<Claiming, 'sealText'> & { readonly under: ClaimedUnder | null };

/** Null if the order reserves nothing on a book. */
function askingOf(request: ClaimRequest, call: RequestedCall, approving: Approving): ReservationRequest | null {
  const { agent_id, reserved_atomic } = request;
  if (agent_id === null || reserved_atomic === 0n) return null;
  return {
    ...call,
    agent_id,
    amount: reserved_atomic,
    task_id: request.task_id,
    payer_wallet: request.payer,
    // Without a check of means the payment may have moved already; the chain will show whether to us.
    owed: request.means === null,
    payment: paymentOf(request, approving),
  };
}

/** What a person's approval of it would be bound to. */
function paymentOf({ claim_key, request_hash }: ClaimRequest, { under, sealText }: Approving): CallPayment {
  if (under === null) return { claim_key, request_hash, session: null, sealText };
  const { delegation_hash, path } = under.paid_under;
  const session = { delegation_hash, path, agent_address: under.shown.agent_address };
  return { claim_key, request_hash, session, sealText };
}
