import type { BoardStanding } from './board/shared-secret.ts';
import type { AgentId } from './ids.ts';
import type { ShownIngestKey } from './router/ingest-key.ts';
import type { ShownSlice } from './slice-token.ts';
import type { Words } from './words.ts';

/** Whether the caller proved possession of a book. Each endpoint decides what it requires. */
export type Possession =
  | { readonly kind: 'absent' }
  | { readonly kind: 'wrong' }
  | ({ readonly kind: 'proven' } & HeldBook & ProvenBy)
  | ({ readonly kind: 'several' } & SeveralBooks);

/**
 * A book that the caller possesses. `session_hash` is the SHA-256 of the live session that proves it, so that a request to end a
 * session ends this one.
 */
export interface HeldBook {
  readonly agent_id: AgentId;
  readonly session_hash: string;
}

/** Several sessions were sent, or another book was named than the one that the session opens. */
export interface SeveralBooks {
  readonly books: readonly HeldBook[];
  /** Book named by the caller for a paid call. It need not be one of `books`. */
  readonly named: number | null;
}

/**
 * How possession was proven, and which use of the proof counts once. A session can be used repeatedly; a proof only opens the book.
 */
export type ProvenBy =
  | { readonly by: 'session' }
  /** A plain proof: any number of reads in its window, and each write once. Null if the write cannot be identified. */
  | { readonly by: 'plain_proof'; readonly use: ProofUse | null }
  /** A proof that is bound to its request. Null if its nonce has been taken. */
  | { readonly by: 'bound_proof'; readonly use: ProofUse | null };

/** How possession was proven, as events of a book record it. */
export const proofMethods = {
  graph: 'ProofMeans',
  description: 'How a caller proved possession of a book.',
  meanings: {
    session: 'The caller sent the session itself, the secret of the book.',
    plain_proof: 'The caller sent a proof that is not bound to one request.',
    bound_proof: 'The caller sent a proof that is bound to the request.',
  },
} as const satisfies Words<ProvenBy['by']>;

/** All books that the caller possesses, each with how it was proven. */
export function booksOf(possession: Possession): readonly (HeldBook & ProvenBy)[] {
  if (possession.kind === 'proven') return [possession];
  return possession.kind === 'several' ? possession.books.map(book => ({ ...book, by: 'session' })) : [];
}

/** A use of a proof that counts once. */
export interface ProofUse {
  /** Window of the proof. The use is remembered until the window is no longer valid. */
  readonly window: number;
  /** SHA-256 (hex) that identifies the use: of the session, and of the nonce or else the request and its window. */
  readonly digest: string;
}

/** `live` keys replace a payment; `demo` keys too, but never write; `waiver` keys only waive the ingest stamp. */
export type ApiKey =
  | { readonly kind: 'absent' }
  | { readonly kind: 'unknown' }
  | { readonly kind: 'live' | 'demo' | 'waiver'; readonly hash: string };

/** The caller, identified once by the gateway and passed on as data. */
export interface Principal {
  readonly possession: Possession;
  readonly api_key: ApiKey;
  /** Address by which the caller is counted: an IPv6 address as its /64. Only a keyed hash of it is stored. */
  readonly address: string;
  /** Absent without a slice token, which opens its slice and nothing else. */
  readonly slice?: ShownSlice | undefined;
  /** Absent without the key of a router book, which opens that book only. */
  readonly ingest_key?: ShownIngestKey | undefined;
  /** Absent without a secret of the board, which opens only its own endpoints. */
  readonly board?: BoardStanding | undefined;
}

export const nobody: Principal = { possession: { kind: 'absent' }, api_key: { kind: 'absent' }, address: '' };
