import { Refusal } from '../schema/errors.ts';
import type { AgentId } from '../schema/ids.ts';
import { type ApiKey, booksOf, type HeldBook, type Principal, type ProvenBy } from '../schema/principal.ts';

/* Access control: resolvers check the principal, which the gateway resolves once per request. */

/**
 * The one authorisation of everything that a book holds.
 * @throws unauthenticated without a proof; forbidden for a wrong one and for an agent that does not exist, alike.
 */
export function requirePossession(principal: Principal, agent_id: number): AgentId {
  return requireHeld(principal, agent_id).agent_id;
}

/** The same, for callers that need to know how possession was proven. */
export function requireHeld({ possession }: Principal, agent_id: number): HeldBook & ProvenBy {
  if (possession.kind === 'absent') throw new Refusal('unauthenticated');
  const held = booksOf(possession).find(book => book.agent_id === agent_id);
  if (!held) throw new Refusal('forbidden');
  return held;
}

/**
 * The caller of a paid operation, with at most one book: with several, the request names the one whose caps apply.
 * @throws book_not_named, forbidden if the caller does not hold the named book.
 */
export function requireOneBook(principal: Principal): Principal {
  const { possession } = principal;
  if (possession.kind !== 'several') return principal;
  if (possession.named === null) throw new Refusal('book_not_named');
  return { ...principal, possession: { kind: 'proven', ...requireHeld(principal, possession.named) } };
}

/** All agents whose books the caller possesses, however that was proven. Shown by `viewer`. */
export function possessedAgents({ possession }: Principal): readonly AgentId[] {
  return booksOf(possession).map(({ agent_id }) => agent_id);
}

/**
 * Like the above, but by the session itself: an endpoint that returns another secret does not accept a proof, which can
 * be read and replayed.
 * @throws unauthenticated, forbidden
 */
export function requireSession(principal: Principal, agent_id: number): HeldBook {
  const held = requireHeld(principal, agent_id);
  if (held.by !== 'session') throw new Refusal('forbidden');
  return held;
}

/**
 * Like the above, by the session or by a proof that is bound to this request and valid once. A plain proof is valid for
 * ten minutes with any body, so a reader of it could obtain a lasting secret.
 * @throws unauthenticated, forbidden
 */
export function requireBound(principal: Principal, agent_id: number): HeldBook & ProvenBy {
  const held = requireHeld(principal, agent_id);
  if (held.by === 'plain_proof') throw new Refusal('forbidden');
  return held;
}

/**
 * A demo key cannot write, whatever other credentials come with it. Required by every unpaid mutation and every paid
 * call that leaves more than a receipt.
 * @throws forbidden
 */
export function requireWriting({ api_key }: Principal): void {
  if (api_key.kind === 'demo') throw new Refusal('forbidden', { detail: 'A demo key cannot write.' });
}

/** Whether the key is accepted instead of a payment, by operations that accept such a key. */
export function standsIn({ kind }: ApiKey): boolean {
  return kind === 'live' || kind === 'demo';
}
