import type { BoardStanding } from './board/shared-secret.ts';
import type { AgentId } from './ids.ts';
import type { ShownIngestKey } from './router/ingest-key.ts';
import type { ShownSlice } from './slice-token.ts';
import type { Words } from './words.ts';

/** Whether the caller proved possession of a book: the outcome is data, each door decides what it needs. */
export type Possession =
  | { readonly kind: 'absent' }
  | { readonly kind: 'wrong' }
  | ({ readonly kind: 'proven' } & HeldBook & ProvenBy)
  | ({ readonly kind: 'several' } & SeveralBooks);

/** A book in somebody's hands. `session_hash` is SHA-256 of the live session that it rests on: what ends is that one. */
export interface HeldBook {
  readonly agent_id: AgentId;
  readonly session_hash: string;
}

/** By sessions alone: several were shown, or another book was named than the one that they open. */
export interface SeveralBooks {
  readonly books: readonly HeldBook[];
  /** The one that a paid call is meant for, as its caller names it. It need not be among them. */
  readonly named: number | null;
}

/** By what it was proven, and what of that serves once. A session lasts; a proof opens the book and nothing else. */
export type ProvenBy =
  | { readonly by: 'session' }
  /** The plain form: reads within its window, and each write once. Null where it cannot be said which write. */
  | { readonly by: 'plain_proof'; readonly use: ProofUse | null }
  /** Bound to its request, whatever that is. Null where its nonce has been taken. */
  | { readonly by: 'bound_proof'; readonly use: ProofUse | null };

/** The same, as events of a book record it. */
export const proofMeans = {
  graph: 'ProofMeans',
  description: 'How a book was opened.',
  meanings: {
    session: 'With the session itself.',
    plain_proof: 'With a plain proof.',
    bound_proof: 'With a proof that is bound to the request.',
  },
} as const satisfies Words<ProvenBy['by']>;

/** Every book that was proven, each by its own session or proof. */
export function booksOf(possession: Possession): readonly (HeldBook & ProvenBy)[] {
  if (possession.kind === 'proven') return [possession];
  return possession.kind === 'several' ? possession.books.map(book => ({ ...book, by: 'session' })) : [];
}

/** A use of a proof that nobody makes twice. */
export interface ProofUse {
  /** That the proof was made in: it is remembered until that passes no more. */
  readonly window: number;
  /** SHA-256, hex. */
  readonly digest: string;
}

/** `live` keys skip payment; `demo` keys do too but never write; `waiver` keys waive the ingest stamp alone. */
export type ApiKey =
  | { readonly kind: 'absent' }
  | { readonly kind: 'unknown' }
  | { readonly kind: 'live' | 'demo' | 'waiver'; readonly hash: string };

/** Who is calling, resolved once by the gateway and passed on as data. */
export interface Principal {
  readonly possession: Possession;
  readonly api_key: ApiKey;
  /** As whom the caller's address is counted: an IPv6 customer counts as their /64. Only a keyed mark of it is ever stored. */
  readonly address: string;
  /** Left out where no slice token came along. It opens a slice, possesses no book and is no key. */
  readonly slice?: ShownSlice | undefined;
  /** Left out where no key of a router book came along. It opens that book alone. */
  readonly ingest_key?: ShownIngestKey | undefined;
  /** Left out where no secret of the board came along. Each opens what is its own, possesses no book and is no key. */
  readonly board?: BoardStanding | undefined;
}

export const nobody: Principal = { possession: { kind: 'absent' }, api_key: { kind: 'absent' }, address: '' };
