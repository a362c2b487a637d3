import { type AtomicAmount, atomicAmount } from '../../../schema/amount.ts';
import type { Tx } from '../../database.ts';

/** What open payments hold on a book: each was reserved there in the commit that claimed it. */
export async function heldOnBook(tx: Tx, agent_id: number): Promise<AtomicAmount> {
  const { rows } = await tx.query<{ held: bigint | null }>({
    name: 'held on book',
    text: `select sum(reserved_atomic) as held from (
        select reserved_atomic from payment_claim where state in ('claimed', 'settling') and agent_id = $1
        union all select reserved_atomic from payment_claim where state = 'held' and agent_id = $1) as held_open`,
    values: [agent_id],
  });
  return atomicAmount(rows[0]?.held ?? 0n);
}
