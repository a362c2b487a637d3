import type { WordOf, Words } from './words.ts';

/* Words of escrows: the ledger escrow over a row of one's own book, and the one between two agents (A2A). */

const OPENS = 'Opens it.';
const RELEASES = 'Releases it, if every check passes.';
const TAKES_BACK = 'Takes it back, or gives it up.';
const READS = 'Reads it.';
const OPENED = 'Opened.';
const RELEASED = 'Released: its checks passed.';
const TAKEN_BACK = 'Taken back.';
const OVER = 'Its time was over first.';

export const ledgerEscrowActions = {
  graph: 'LedgerEscrowAction',
  description: 'What may be done with a ledger escrow.',
  meanings: { open: OPENS, release: RELEASES, clawback: TAKES_BACK, status: READS },
} as const satisfies Words;
export type LedgerEscrowAction = WordOf<typeof ledgerEscrowActions>;
export const ledgerEscrowStates = {
  graph: 'LedgerEscrowState',
  description: 'Where a ledger escrow stands.',
  meanings: { open: OPENED, released: RELEASED, clawed_back: TAKEN_BACK, expired: OVER },
} as const satisfies Words;
export type LedgerEscrowState = WordOf<typeof ledgerEscrowStates>;

export const a2aEscrowActions = {
  graph: 'A2aEscrowAction',
  description: 'What may be done with an escrow of two agents.',
  meanings: {
    open: OPENS,
    fund: 'Names the payment that backs it.',
    submit: 'Delivers.',
    release: RELEASES,
    clawback: TAKES_BACK,
    challenge: 'Says that the delivery fails.',
    status: READS,
  },
} as const satisfies Words;
export type A2aEscrowAction = WordOf<typeof a2aEscrowActions>;
export const a2aEscrowStates = {
  graph: 'A2aEscrowState',
  description: 'Where an escrow of two agents stands.',
  meanings: {
    open: OPENED,
    funded: 'A collected payment of the principal backs it.',
    submitted: 'The counterparty has delivered.',
    released: RELEASED,
    clawed_back: TAKEN_BACK,
    challenged: 'The principal says that the delivery fails.',
    expired: OVER,
  },
} as const satisfies Words;
export type A2aEscrowState = WordOf<typeof a2aEscrowStates>;
export const a2aEscrowParties = {
  graph: 'A2aEscrowParty',
  description: 'Which of the two agents.',
  meanings: {
    principal: 'Who opens and funds it, and is delivered to.',
    counterparty: 'Who delivers.',
  },
} as const satisfies Words;
export type A2aEscrowParty = WordOf<typeof a2aEscrowParties>;

/**
 * What a receipt has to show before an escrow is released. `settlement`: its transfer was seen. `inference`: that, and it
 * commits to the output of a model. Each holds all that the one before it does.
 */
export const proofTiers = {
  graph: 'ProofTier',
  description: 'What a receipt has to show.',
  meanings: {
    settlement: 'That its transfer was seen.',
    inference: 'That, and that it commits to the output of a model.',
  },
} as const satisfies Words;
export type ProofTier = WordOf<typeof proofTiers>;

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
