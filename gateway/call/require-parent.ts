import { Refusal } from '../../schema/errors.ts';
import type { AgentId } from '../../schema/ids.ts';
import { isOnBook } from '../../subgraphs/book/lineage/parent.ts';
import type { Database } from '../../subgraphs/database.ts';
import type { RequestedCall } from '../../subgraphs/requested-call.ts';

/**
 * A call may only follow from a row that is already on its own book, so no row precedes its parent or follows from itself.
 * Checked before the claim and only if a parent is named; the payment stays usable. A row of another book and a missing row get
 * the same response, so that it reveals nothing of other books. @param landsOn the book of the call; null without one @throws
 * parent_not_on_book
 */
export async function requireParent(
  database: Database,
  { parent_ref }: Pick<RequestedCall, 'parent_ref'>,
  landsOn: () => Promise<AgentId | null>,
): Promise<void> {
  if (parent_ref === null) return;
  const agent_id = await landsOn();
  if (agent_id !== null && (await isOnBook(database, agent_id, parent_ref))) return;
  throw new Refusal('parent_not_on_book', { param: 'parent_ref', facts: { charged: false } });
}
