import type { JsonObject } from '../../../schema/canonical-json.ts';
import type { Tx } from '../../database.ts';

/** Where the calls of these claims land, which the transaction holds. */
export async function landingsOf(tx: Tx, claim_keys: readonly string[]) {
  const { rows } = await tx.query<{ task_id: string; agent_id: number | null; landing: JsonObject }>({
    name: 'landings of claims',
    text: 'select task_id, agent_id, landing from payment_claim where claim_key = any($1)',
    values: [claim_keys],
  });
  return rows;
}
