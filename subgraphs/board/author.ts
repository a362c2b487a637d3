import { Refusal } from '../../schema/errors.ts';
import { booksOf, type HeldBook, type Principal, type ProvenBy } from '../../schema/principal.ts';
import { requireHeld } from '../access.ts';
import type { Arguments } from '../graph-type.ts';
import type { BoardContext } from './context.ts';

/**
 * Returns the book of the agent that writes on the board. The request must prove possession of it. If the request proves several books, it
 * must name one.
 * @throws unauthenticated, forbidden; book_not_named if several are proven and none is named.
 */
export function requireAuthor(principal: Principal, named: number | null): HeldBook & ProvenBy {
  const books = booksOf(principal.possession);
  const only = books.length === 1 ? books[0] : undefined;
  const agent_id = named ?? only?.agent_id;
  if (agent_id !== undefined) return requireHeld(principal, agent_id);
  if (principal.possession.kind === 'absent') throw new Refusal('unauthenticated');
  throw new Refusal(books.length > 1 ? 'book_not_named' : 'forbidden');
}

/** Returns the author's book as `requireAuthor` does, for the agent that the arguments name. Throws the same errors. */
export function authorOf({ principal }: Pick<BoardContext, 'principal'>, asked: Arguments): HeldBook & ProvenBy {
  return requireAuthor(principal, agentArgument(asked));
}

/** Agent that the arguments name. Null if they name none. */
export function agentArgument({ agentId }: Arguments): number | null {
  return typeof agentId === 'number' ? agentId : null;
}
