import { sha256Hex } from '../../../schema/digest.ts';
import type { AgentId } from '../../../schema/ids.ts';
import { asEntity, selectList } from '../../columns.ts';
import type { Database } from '../../database.ts';
import { Dispute } from './dispute.entity.ts';
import type { DisputeStatus } from './dispute.type.ts';

/** A page of disputes. Their ids sort by time. */
interface DisputePage {
  readonly limit: number;
  /** Id of the last dispute that the client has received. Null starts with the newest. */
  readonly before: string | null;
}

/** Disputes of a book, newest first. Pages continue after an id, without an offset, so that every page costs the same. */
export async function disputesOf(
  database: Database,
  agent_id: AgentId,
  { limit, before }: DisputePage,
): Promise<Dispute[]> {
  // The first page has its own statement, because a shared plan for any `before` would scan all newer rows.
  const [name, older] = before === null ? ['newest disputes of book', ''] : ['disputes of book', 'and dispute_id < $3'];
  const found = await database.query({
    name,
    text: `select ${selectList(Dispute)} from dispute
      where agent_id = $1 ${older} order by dispute_id desc limit $2`,
    values: [agent_id, limit, ...(before === null ? [] : [before])],
  });
  return found.map(row => asEntity(Dispute, row));
}

/** Status of a dispute of any book. It needs no possession, because the id cannot be guessed. Null if no dispute has this id. */
export async function disputeStatusOf(database: Database, dispute_id: string): Promise<DisputeStatus | null> {
  const [found] = await database.query<{ revision: number; verdict: string; final: boolean; judged_at: Date }>({
    name: 'dispute status',
    text: `select revision, verdict, coalesce(outcome = 'refund', false) as final, judged_at from dispute where dispute_id = $1`,
    values: [dispute_id],
  });
  if (!found) return null;
  const { revision, verdict, final, judged_at: judgedAt } = found;
  return { disputeId: dispute_id, revision, verdictHash: sha256Hex(verdict), final, judgedAt };
}

/** A dispute of a book. Null if the book has none with this id. */
export async function disputeOf(database: Database, agent_id: AgentId, dispute_id: string): Promise<Dispute | null> {
  const [found] = await database.query({
    name: 'dispute',
    text: `select ${selectList(Dispute)} from dispute where agent_id = $1 and dispute_id = $2`,
    values: [agent_id, dispute_id],
  });
  return found ? asEntity(Dispute, found) : null;
}
