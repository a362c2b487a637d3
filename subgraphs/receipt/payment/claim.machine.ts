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
}

export type Verdict =
  | { readonly kind: 'claimed' }
  | { readonly kind: 'replayed' }
  | { readonly kind: 'foreign' }
  | { readonly kind: 'in_flight' }
  | { readonly kind: 'pending' };

/** What a second use of a payment is. A released payment may serve another request: nothing was bought with it. */
export function judge(standing: Standing, incoming: { task_id: string; request_hash: string }): Verdict {
  if (standing.task_id === incoming.task_id && standing.state === 'claimed') return { kind: 'claimed' };
  if (standing.state === 'released') return { kind: 'claimed' };
  if (standing.request_hash !== incoming.request_hash) return { kind: 'foreign' };
  if (standing.state === 'recorded') return { kind: 'replayed' };
  // An orphan still holds its book's reservation: reconcile gives that back and releases it, within a lease.
  return { kind: standing.state === 'claimed' || standing.leased ? 'in_flight' : 'pending' };
}
