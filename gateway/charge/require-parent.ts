import { Refusal } from '../../schema/errors.ts';
import type { AgentId } from '../../schema/ids.ts';
import { isOnBook } from '../../subgraphs/book/lineage/parent.ts';
import type { Database } from '../../subgraphs/database.ts';
import type { RequestedCall } from '../../subgraphs/requested-call.ts';

/**
 * A call follows from a row that stands on its own book already, so no row comes before its parent and none follows from
 * itself. Asked before the claim and only of a call that names one: the payment stays usable. A row of another book and no
 * row at all are answered alike, since nobody learns here what stands on a book that is not theirs.
 * @param landsOn the book that the call would land on; null: on none
 * @throws parent_not_on_book
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
