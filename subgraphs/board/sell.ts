import type { JsonObject } from '../../schema/canonical-json.ts';
import { requireWriting } from '../access.ts';
import type { Stamp } from '../sale.ts';
import { requireAuthor } from './author.ts';
import type { BoardContext } from './context.ts';
import type { ByAuthor } from './stamp.ts';

/**
 * Sells an entry to its author. The stamp becomes a row on the author's own book, even if the request proves other books too. A request
 * with a demo key is refused.
 * @throws unauthenticated, forbidden, book_not_named; the errors of `charge`
 */
export async function sell<A extends JsonObject, T extends JsonObject, F extends JsonObject>(
  paid: Stamp<A & ByAuthor, T, F>,
  request: A,
  named: number | null,
  context: BoardContext,
): Promise<T> {
  const held = requireAuthor(context.principal, named);
  requireWriting(context.principal);
  const principal = { ...context.principal, possession: { kind: 'proven' as const, ...held } };
  const args = { ...request, agent_id: held.agent_id };
  const { answer, settlement_status } = await context.charge(paid, args, { ...context, principal });
  context.response.headers['x-svc-settlement-status'] = settlement_status;
  return answer;
}
