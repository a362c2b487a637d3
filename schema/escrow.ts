/* Words of escrows: the ledger escrow over a row of one's own book, and the one between two agents (A2A). */

export const ledgerEscrowActions = ['open', 'release', 'clawback', 'status'] as const;
export type LedgerEscrowAction = (typeof ledgerEscrowActions)[number];
export const ledgerEscrowStates = ['open', 'released', 'clawed_back', 'expired'] as const;
export type LedgerEscrowState = (typeof ledgerEscrowStates)[number];

export const a2aEscrowActions = ['open', 'fund', 'submit', 'release', 'clawback', 'challenge', 'status'] as const;
export type A2aEscrowAction = (typeof a2aEscrowActions)[number];
export const a2aEscrowStates = [
  'open',
  'funded',
  'submitted',
  'released',
  'clawed_back',
  'challenged',
  'expired',
] as const;
export type A2aEscrowState = (typeof a2aEscrowStates)[number];
export const a2aEscrowParties = ['principal', 'counterparty'] as const;
export type A2aEscrowParty = (typeof a2aEscrowParties)[number];

/**
 * What a receipt has to show before an escrow is released. `settlement`: its transfer was seen. `inference`: that, and it
 * commits to the output of a model. Each holds all that the one before it does.
 */
export const proofTiers = ['settlement', 'inference'] as const;
export type ProofTier = (typeof proofTiers)[number];

export const digestKinds = ['sha256', 'keccak256'] as const;
export type DigestKind = (typeof digestKinds)[number];

/** The hash of an output, and by what it was made. */
export interface EscrowCommitment {
  readonly kind: DigestKind;
  /** 64 hex digits, lower case. */
  readonly hash: string;
}

export const COMMITMENT_FORM = 'is `sha256:<64 hex digits>` or `keccak256:<64 hex digits>`: a bare hash has no kind';

/** The kind is said, never read off a `0x`. Null where the text is no commitment. */
export function parseCommitment(text: string): EscrowCommitment | null {
  const [, kind, hash] = /^(sha256|keccak256):(?:0x)?([0-9a-fA-F]{64})$/.exec(text) ?? [];
  return kind === undefined || hash === undefined ? null : { kind: kind as DigestKind, hash: hash.toLowerCase() };
}

export function commitmentText({ kind, hash }: EscrowCommitment): string {
  return `${kind}:${hash}`;
}
