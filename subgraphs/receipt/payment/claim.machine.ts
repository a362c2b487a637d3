import type { RefusalId } from '../../../schema/ids.ts';

/**
 * The life of one payment. `claimed`: nobody else may use it; nothing moved. `settling`: it may have moved, the chain
 * alone knows. `recorded`: row and receipt stand. `released`: came to nothing; usable again until it expires.
 */
export const claimStates = ['claimed', 'settling', 'recorded', 'released'] as const;
export type ClaimState = (typeof claimStates)[number];

const transitions: Record<ClaimState, readonly ClaimState[]> = {
  claimed: ['settling', 'released'],
  settling: ['recorded', 'released'],
  // The same payment again, or somebody else submitted it after we had let go of it.
  released: ['claimed', 'settling'],
  recorded: [],
};

export function mayMove(from: ClaimState, to: ClaimState): boolean {
  return transitions[from].includes(to);
}

/** What is known of the claim that already stands where a new one wants to be. */
export interface Standing {
  readonly state: ClaimState;
  readonly task_id: string;
  readonly request_hash: string;
  /** Its process is alive and working on it. */
  readonly leased: boolean;
  /** Its book has refused it. */
  readonly refusal_id: RefusalId | null;
  /** It has been sent once: whoever reads the chain's pool may hold it. */
  readonly published: boolean;
  /** The agent under whose session it was made. */
  readonly possessed_by: number | null;
}

/** The request that wants to use it. */
export interface Use {
  readonly task_id: string;
  readonly request_hash: string;
  readonly possessed_by: number | null;
  /** The chain has the payment as used: it has been public calldata, and whoever shows it need not be its payer. */
  readonly spent: boolean;
}

export type Verdict =
  | { readonly kind: 'claimed' }
  | { readonly kind: 'blocked'; readonly refusal_id: RefusalId }
  | { readonly kind: 'replayed' }
  | { readonly kind: 'foreign' }
  | { readonly kind: 'in_flight' }
  | { readonly kind: 'pending' };

/**
 * What a second use of a payment is. A released payment may serve another request: nothing was bought with it. Not so one
 * that others may have read: it serves the request that it was made for, or its calldata would be anybody's money. The
 * one that its book refused is refused the same way, and not judged twice.
 */
export function judge(standing: Standing, incoming: Use): Verdict {
  if (standing.task_id === incoming.task_id && standing.state === 'claimed') return { kind: 'claimed' };
  if (standing.state === 'released') {
    if ((standing.published || incoming.spent) && !isSameUse(standing, incoming)) return { kind: 'foreign' };
    const { refusal_id, request_hash } = standing;
    return refusal_id !== null && request_hash === incoming.request_hash
      ? { kind: 'blocked', refusal_id }
      : { kind: 'claimed' };
  }
  if (standing.request_hash !== incoming.request_hash) return { kind: 'foreign' };
  if (standing.state === 'recorded') return { kind: 'replayed' };
  // An orphan still holds its book's reservation: reconcile gives that back and releases it, within a lease.
  return { kind: standing.state === 'claimed' || standing.leased ? 'in_flight' : 'pending' };
}

function isSameUse(standing: Standing, { request_hash, possessed_by }: Use): boolean {
  if (standing.request_hash !== request_hash) return false;
  return standing.possessed_by === null || standing.possessed_by === possessed_by;
}
