import { type AtomicAmount, atomicAmount } from '../../schema/amount.ts';
import type { AgentId } from '../../schema/ids.ts';
import { type CallPayment, type ReservationRequest } from '../../subgraphs/book/ledger/reservation.ts';
import type { Tx } from '../../subgraphs/database.ts';
import { type ClaimRequest } from '../../subgraphs/receipt/claim/claim.ts';
import type { RequestedCall } from '../../subgraphs/requested-call.ts';
import { agentsOfWallets } from '../../subgraphs/session/agent/find.ts';
import { approvingAct, type ClaimedUnder } from './under-sessions.ts';

/** A claim as it is asked for, and what its book is told of the call. */
export interface Claiming {
  readonly request: Omit<ClaimRequest, 'agent_id' | 'reserved_atomic'>;
  /** `payers`: the payer's own, if there is one: it is looked for in the claim's own transaction. */
  readonly book: AgentId | null | 'payers';
  /** What is held on that book, and the book is asked about; nothing where that is 0. */
  readonly holds_atomic: AtomicAmount;
  readonly call: RequestedCall;
  /** What a person is shown who is to approve it, sealed. */
  readonly sealText: CallPayment['sealText'];
  /** The session that it is paid under; left out where no grant came along. */
  readonly under?: ClaimedUnder;
}

/** A claim with its book, and what that is asked. */
export interface PlacedClaim {
  readonly request: ClaimRequest;
  /** What its book is asked; null where the order holds nothing on one. */
  readonly asked: ReservationRequest | null;
  readonly under: ClaimedUnder | null;
}

/** One look for all wallets whose book is meant, or has to be meant for their acts to approve. */
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

/** Null where the order holds nothing on a book. */
function askingOf(request: ClaimRequest, call: RequestedCall, approving: Approving): ReservationRequest | null {
  const { agent_id, reserved_atomic } = request;
  if (agent_id === null || reserved_atomic === 0n) return null;
  return {
    ...call,
    agent_id,
    amount: reserved_atomic,
    task_id: request.task_id,
    payer_wallet: request.payer,
    // Whose means are not asked has paid already, for all that we know: the chain will say whether it was us.
    owed: request.means === null,
    payment: paymentOf(request, approving),
  };
}

/** What an approval of it by a person would be bound to. */
function paymentOf({ claim_key, request_hash }: ClaimRequest, { under, sealText }: Approving): CallPayment {
  if (under === null) return { claim_key, request_hash, session: null, sealText };
  const { delegation_hash, path } = under.paid_under;
  const session = { delegation_hash, path, agent_address: under.shown.agent_address };
  return { claim_key, request_hash, session, sealText };
}
