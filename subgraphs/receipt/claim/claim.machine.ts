import type { RefusalId } from '../../../schema/ids.ts';
import { limits } from '../../../schema/limits.ts';

/**
 * The life of one payment. `claimed`: reserved; nothing has moved. `settling`: it may have moved, the chain decides.
 * `held`: the first of two has moved; it is recorded with its sibling, and released only if the final chain does not
 * have it. `recorded`: row and receipt exist. `released`: failed; usable again until it expires.
 */
export const claimStates = ['claimed', 'settling', 'held', 'recorded', 'released'] as const;
export type ClaimState = (typeof claimStates)[number];

const transitions: Record<ClaimState, readonly ClaimState[]> = {
  claimed: ['settling', 'released'],
  settling: ['held', 'recorded', 'released'],
  held: ['recorded', 'released'],
  // The same payment again, or another party submitted it after its release.
  released: ['claimed', 'settling'],
  recorded: [],
};

/**
 * The legal moves. Each is made by one statement (claim.ts, transitions.ts), and a test holds those to this table.
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
  /** Its process is alive and working on it. */
  readonly leased: boolean;
  /** Its book has refused it. */
  readonly refusal_id: RefusalId | null;
  /** It was sent once, so readers of the chain's pool may know it. */
  readonly published: boolean;
  /** It keeps the slot of a first leg: the payee of that leg could still use it, and it would count there. */
  readonly bound: boolean;
  /** The agent under whose session it was made. */
  readonly possessed_by: number | null;
  /** Hash of the router key under which it was made. Null if there was none. */
  readonly router_key_mark: string | null;
  /** Number of calls with it that failed because of their own request or router key. */
  readonly failures: number;
}

/** The request that is to use the payment. */
export interface Use {
  readonly task_id: string;
  readonly request_hash: string;
  readonly possessed_by: number | null;
  readonly router_key_mark: string | null;
  /** The chain has used the payment: it is public calldata, so its sender need not be its payer. */
  readonly spent: boolean;
}

export type Verdict =
  | { readonly kind: 'claimed' }
  | { readonly kind: 'blocked'; readonly refusal_id: RefusalId }
  | { readonly kind: 'replayed' }
  /** It serves another request; `settled`: that one is paid for and recorded, and the claim closed. */
  | { readonly kind: 'foreign'; readonly settled: boolean }
  /** Too many calls with it failed because of their callers. */
  | { readonly kind: 'lapsed' }
  | { readonly kind: 'in_flight' }
  | { readonly kind: 'pending' };

/**
 * Judges a second use of a payment. A released payment may serve another request: nothing was bought with it. A payment
 * that others may have read serves only its first request, or anybody could spend it. One that its book refused is
 * refused again without another judgement. One that was used to try router keys lapses; if its money arrives all the
 * same, its work is owed.
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
  // An orphan still holds its book's reservation: reconcile gives that back and releases it, within a lease.
  return { kind: standing.state === 'claimed' || standing.leased ? 'in_flight' : 'pending' };
}

type RequestIdentity = Pick<Use, 'request_hash' | 'router_key_mark'>;

/** A purchase under a router key belongs to that key: another key means another request. */
export function isSameRequest(standing: RequestIdentity, incoming: RequestIdentity): boolean {
  return standing.request_hash === incoming.request_hash && standing.router_key_mark === incoming.router_key_mark;
}

function isSameUse(standing: ExistingClaim, incoming: Use): boolean {
  if (!isSameRequest(standing, incoming)) return false;
  return standing.possessed_by === null || standing.possessed_by === incoming.possessed_by;
}
