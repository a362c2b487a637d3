import { Refusal } from './errors.ts';
import type { AgentId } from './ids.ts';

/** Whether the caller proved possession of a book: the outcome is data, each door decides what it needs. */
export type Possession =
  | { readonly kind: 'absent' }
  | { readonly kind: 'wrong' }
  | ({ readonly kind: 'proven' } & Held & ProvenBy);

/** A book in somebody's hands. `session_hash` is SHA-256 of the live session that it rests on: what ends is that one. */
export interface Held {
  readonly agent_id: AgentId;
  readonly session_hash: string;
}

/** By what it was proven, and what of that serves once. A session lasts; a proof opens the book and nothing else. */
export type ProvenBy =
  | { readonly by: 'session' }
  /** The plain form: reads within its window, and each write once. Null where it cannot be said which write. */
  | { readonly by: 'plain_proof'; readonly use: ProofUse | null }
  /** Bound to its request, whatever that is. Null where its nonce has been taken. */
  | { readonly by: 'bound_proof'; readonly use: ProofUse | null };

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

/** Whether a key stands in for a payment, where one may. */
export function standsIn({ kind }: ApiKey): boolean {
  return kind === 'live' || kind === 'demo';
}

/** Who is calling, resolved once by the gateway and passed on as data. */
export interface Principal {
  readonly possession: Possession;
  readonly api_key: ApiKey;
  /** As whom the caller's address is counted: an IPv6 customer is his /64. Only a keyed mark of it is ever stored. */
  readonly address: string;
}

export const nobody: Principal = { possession: { kind: 'absent' }, api_key: { kind: 'absent' }, address: '' };

/**
 * The one authorisation of everything that a book holds.
 * @throws unauthenticated without a proof; forbidden for a wrong one and for an agent that does not exist, alike.
 */
export function requirePossession(principal: Principal, agent_id: number): AgentId {
  return requireHeld(principal, agent_id).agent_id;
}

/** The same, for what must know by which session. */
export function requireHeld({ possession }: Principal, agent_id: number): Held & ProvenBy {
  if (possession.kind === 'absent') throw new Refusal('unauthenticated');
  if (possession.kind === 'wrong' || possession.agent_id !== agent_id) throw new Refusal('forbidden');
  return possession;
}

/**
 * The same by the session itself: what hands out another secret is nothing for a proof, which whoever reads it could show.
 * @throws unauthenticated, forbidden
 */
export function requireSession(principal: Principal, agent_id: number): Held {
  const held = requireHeld(principal, agent_id);
  if (held.by !== 'session') throw new Refusal('forbidden');
  return held;
}

/**
 * A demo key that came along writes nothing, whatever else did. Asked of every mutation that is not paid for, and of every
 * paid call that leaves more than a receipt.
 * @throws forbidden
 */
export function requireWriting({ api_key }: Principal): void {
  if (api_key.kind === 'demo') throw new Refusal('forbidden', { detail: 'A demo key writes nothing.' });
}
