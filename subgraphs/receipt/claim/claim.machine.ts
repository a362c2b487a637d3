import type { RefusalId } from '../../../schema/ids.ts';
import { limits } from '../../../schema/limits.ts';

/**
 * States of one payment. `claimed`: it is reserved, and nothing has moved. `settling`: it may have moved, and the chain decides. `held`:
 * the first of two payments has moved; it is recorded together with the second, and released only if the finalized chain does not have it
 * or its transfer is already recorded for another payment. `recorded`: row and receipt exist. `released`: the call failed, and the payment
 * can be used again until it expires.
 */
export const claimStates = ['claimed', 'settling', 'held', 'recorded', 'released'] as const;
export type ClaimState = (typeof claimStates)[number];

const transitions: Record<ClaimState, readonly ClaimState[]> = {
  claimed: ['settling', 'released'],
  settling: ['held', 'recorded', 'released'],
  held: ['recorded', 'released'],
  // `claimed` when the same payment is sent again, `settling` when another party has submitted it after its release.
  released: ['claimed', 'settling'],
  recorded: [],
};

/**
 * Whether a claim may move from one state to the other. Each move is made by one statement, and a test compares these statements with this
 * table.
 * @public
 */
export function mayMove(from: ClaimState, to: ClaimState): boolean {
  return transitions[from].includes(to);
}

/** Facts about the existing claim under the key of a new one. */
export interface ExistingClaim {
  readonly state: ClaimState;
  readonly task_id: string;
  readonly request_hash: string;
  /** Whether its process is alive and may be working on it. */
  readonly leased: boolean;
  /** Id of the refusal by its book. Null if its book did not refuse it. */
  readonly refusal_id: RefusalId | null;
  /** Whether it was sent before, so that readers of the chain's transaction pool may have seen it. */
  readonly published: boolean;
  /** Whether it holds the slot of a first leg. The payee of that leg could still submit it, and it would then pay for that leg. */
  readonly bound: boolean;
  /** Agent under whose session the call was made. Null if there was no session. */
  readonly possessed_by: number | null;
  /** Hash of the router key under which the call was made. Null if there was none. */
  readonly router_key_mark: string | null;
  /** Number of calls with this payment that failed because of their own request or router key. */
  readonly failures: number;
}

/** The request that would use the payment. */
export interface Use {
  readonly task_id: string;
  readonly request_hash: string;
  readonly possessed_by: number | null;
  readonly router_key_mark: string | null;
  /** Whether the chain has used the payment. It is then public calldata, so its sender need not be its payer. */
  readonly spent: boolean;
}

export type Verdict =
  | { readonly kind: 'claimed' }
  | { readonly kind: 'blocked'; readonly refusal_id: RefusalId }
  | { readonly kind: 'replayed' }
  /** The payment serves another request. `settled`: that request is paid for, so the claim is closed. */
  | { readonly kind: 'foreign'; readonly settled: boolean }
  /** Too many calls with the payment failed because of their callers. */
  | { readonly kind: 'lapsed' }
  | { readonly kind: 'in_flight' }
  | { readonly kind: 'pending' };

/**
 * Judges another use of a payment that has a claim. A released payment may serve another request, because nothing was bought with it. A
 * payment that others may have read serves only its first request; otherwise anyone could spend it. If the book refused a payment, the same
 * request is refused again without another check. A payment with too many failed calls lapses, so that it cannot be used to try router
 * keys; but if its money has moved, its work is owed.
 */
export function judge(standing: ExistingClaim, incoming: Use): Verdict {
  if (standing.task_id === incoming.task_id && standing.state === 'claimed') return { kind: 'claimed' };
  if (standing.state === 'released') {
    if ((standing.published || standing.bound || incoming.spent) && !isSameUse(standing, incoming))
      return { kind: 'foreign', settled: false };
    if (!incoming.spent && standing.failures >= limits.payment_failures_max) return { kind: 'lapsed' };
    const { refusal_id, request_hash } = standing;
    return refusal_id !== null && request_hash === incoming.request_hash
      ? { kind: 'blocked', refusal_id }
      : { kind: 'claimed' };
  }
  if (!isSameRequest(standing, incoming))
    return { kind: 'foreign', settled: standing.state === 'recorded' || standing.state === 'held' };
  if (standing.state === 'recorded') return { kind: 'replayed' };
  // The claim of a dead process still has its reservation on the book. Within the duration of a lease, reconcile returns the reservation
  // and releases the claim.
  return { kind: standing.state === 'claimed' || standing.leased ? 'in_flight' : 'pending' };
}

type RequestIdentity = Pick<Use, 'request_hash' | 'router_key_mark'>;

/** Whether two requests are the same. A purchase under a router key belongs to that key, so another key makes it another request. */
export function isSameRequest(standing: RequestIdentity, incoming: RequestIdentity): boolean {
  return standing.request_hash === incoming.request_hash && standing.router_key_mark === incoming.router_key_mark;
}

function isSameUse(standing: ExistingClaim, incoming: Use): boolean {
  if (!isSameRequest(standing, incoming)) return false;
  return standing.possessed_by === null || standing.possessed_by === incoming.possessed_by;
}
