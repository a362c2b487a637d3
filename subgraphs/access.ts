import { Refusal } from '../schema/errors.ts';
import type { AgentId } from '../schema/ids.ts';
import { type ApiKey, booksOf, type HeldBook, type Principal, type ProvenBy } from '../schema/principal.ts';

/* Who may do what: asked of the principal, who is resolved once by the gateway, by whichever resolver does it. */

/**
 * The one authorisation of everything that a book holds.
 * @throws unauthenticated without a proof; forbidden for a wrong one and for an agent that does not exist, alike.
 */
export function requirePossession(principal: Principal, agent_id: number): AgentId {
  return requireHeld(principal, agent_id).agent_id;
}

/** The same, for what must know by which session. */
export function requireHeld({ possession }: Principal, agent_id: number): HeldBook & ProvenBy {
  if (possession.kind === 'absent') throw new Refusal('unauthenticated');
  const held = booksOf(possession).find(book => book.agent_id === agent_id);
  if (!held) throw new Refusal('forbidden');
  return held;
}

/**
 * The caller of what is paid for, with one book or none: with several it lands on the one that they name, since of any
 * other nobody has chosen whose caps it is held against.
 * @throws book_not_named, forbidden where they do not hold the one that they name.
 */
export function requireOneBook(principal: Principal): Principal {
  const { possession } = principal;
  if (possession.kind !== 'several') return principal;
  if (possession.named === null) throw new Refusal('book_not_named');
  return { ...principal, possession: { kind: 'proven', ...requireHeld(principal, possession.named) } };
}

/** All that this caller possesses, by whatever proved it: what `viewer` shows. */
export function possessedAgents({ possession }: Principal): readonly AgentId[] {
  return booksOf(possession).map(({ agent_id }) => agent_id);
}

/**
 * The same by the session itself: what hands out another secret is nothing for a proof, which whoever reads it could show.
 * @throws unauthenticated, forbidden
 */
export function requireSession(principal: Principal, agent_id: number): HeldBook {
  const held = requireHeld(principal, agent_id);
  if (held.by !== 'session') throw new Refusal('forbidden');
  return held;
}

/**
 * The same by the session or by a proof that was bound to this very request, and so serves whoever sends it first and nobody
 * else. A plain one, which passes for ten minutes with any body, would get whoever has read it a secret that lasts.
 * @throws unauthenticated, forbidden
 */
export function requireBound(principal: Principal, agent_id: number): HeldBook & ProvenBy {
  const held = requireHeld(principal, agent_id);
  if (held.by === 'plain_proof') throw new Refusal('forbidden');
  return held;
}

/**
 * A demo key that came along writes nothing, whatever else did. Asked of every mutation that is not paid for, and of every
 * paid call that leaves more than a receipt.
 * @throws forbidden
 */
export function requireWriting({ api_key }: Principal): void {
  if (api_key.kind === 'demo') throw new Refusal('forbidden', { detail: 'A demo key cannot write.' });
}

/** Whether a key stands in for a payment, where one may. */
export function standsIn({ kind }: ApiKey): boolean {
  return kind === 'live' || kind === 'demo';
}
