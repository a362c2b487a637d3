import { Refusal } from '../schema/errors.ts';
import type { AgentId } from '../schema/ids.ts';
import { type ApiKey, booksOf, type HeldBook, type Principal, type ProvenBy } from '../schema/principal.ts';

/* Access control: resolvers check the principal, which the gateway resolves once per request. */

/**
 * Checks that the caller possesses a book, which authorises access to everything in it.
 * @throws unauthenticated without a proof; forbidden both for a wrong proof and for an agent that does not exist.
 */
export function requirePossession(principal: Principal, agent_id: number): AgentId {
  return requireHeld(principal, agent_id).agent_id;
}

/** Checks the same as `requirePossession`, and also returns how possession was proven. */
export function requireHeld({ possession }: Principal, agent_id: number): HeldBook & ProvenBy {
  if (possession.kind === 'absent') throw new Refusal('unauthenticated');
  const held = booksOf(possession).find(book => book.agent_id === agent_id);
  if (!held) throw new Refusal('forbidden');
  return held;
}

/**
 * Returns the caller of a paid operation with at most one book. A caller who possesses several books must name the one whose caps apply.
 * @throws book_not_named if the request names none; forbidden if the caller does not possess the named book.
 */
export function requireOneBook(principal: Principal): Principal {
  const { possession } = principal;
  if (possession.kind !== 'several') return principal;
  if (possession.named === null) throw new Refusal('book_not_named');
  return { ...principal, possession: { kind: 'proven', ...requireHeld(principal, possession.named) } };
}

/** Ids of all agents whose books the caller possesses, by any kind of proof. Shown by `viewer`. */
export function possessedAgents({ possession }: Principal): readonly AgentId[] {
  return booksOf(possession).map(({ agent_id }) => agent_id);
}

/**
 * Like `requireHeld`, but accepts only the session itself. Used by endpoints that return another secret, because a proof can be read and
 * replayed.
 * @throws unauthenticated, forbidden
 */
export function requireSession(principal: Principal, agent_id: number): HeldBook {
  const held = requireHeld(principal, agent_id);
  if (held.by !== 'session') throw new Refusal('forbidden');
  return held;
}

/**
 * Like `requireHeld`, but accepts only the session, or a proof that is bound to this request and valid once. A plain proof is valid for ten
 * minutes with any body, so anyone who reads it could obtain a lasting secret.
 * @throws unauthenticated, forbidden
 */
export function requireBound(principal: Principal, agent_id: number): HeldBook & ProvenBy {
  const held = requireHeld(principal, agent_id);
  if (held.by === 'plain_proof') throw new Refusal('forbidden');
  return held;
}

/**
 * Refuses a demo key, whatever other credentials the request has. Called by every unpaid mutation, and by every paid call that writes more
 * than a receipt.
 * @throws forbidden
 */
export function requireWriting({ api_key }: Principal): void {
  if (api_key.kind === 'demo') throw new Refusal('forbidden', { detail: 'A demo key cannot write.' });
}

/** Whether the key is accepted instead of a payment, by operations that accept such a key. */
export function standsIn({ kind }: ApiKey): boolean {
  return kind === 'live' || kind === 'demo';
}
