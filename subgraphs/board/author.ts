import { Refusal } from '../../schema/errors.ts';
import { booksOf, type HeldBook, type Principal, type ProvenBy } from '../../schema/principal.ts';
import { requireHeld } from '../access.ts';
import type { Arguments } from '../graph-type.ts';
import type { BoardContext } from './context.ts';

/**
 * The agent that writes on the board, by possession of its book. With several books, the request names one.
 * @throws unauthenticated, forbidden; book_not_named if several are held and none is named.
 */
export function requireAuthor(principal: Principal, named: number | null): HeldBook & ProvenBy {
  const books = booksOf(principal.possession);
  const only = books.length === 1 ? books[0] : undefined;
  const agent_id = named ?? only?.agent_id;
  if (agent_id !== undefined) return requireHeld(principal, agent_id);
  if (principal.possession.kind === 'absent') throw new Refusal('unauthenticated');
  throw new Refusal(books.length > 1 ? 'book_not_named' : 'forbidden');
}

/** The same, for the agent that the arguments name. */
export function authorOf({ principal }: Pick<BoardContext, 'principal'>, asked: Arguments): HeldBook & ProvenBy {
  return requireAuthor(principal, agentArgument(asked));
}

/** Null if the arguments name none. */
export function agentArgument({ agentId }: Arguments): number | null {
  return typeof agentId === 'number' ? agentId : null;
}
