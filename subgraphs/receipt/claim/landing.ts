import type { JsonObject } from '../../../schema/canonical-json.ts';
import type { Tx } from '../../database.ts';

/* What the claim's machine reads of where a call is recorded; only the charge reads the rest. */

/** The agent under whose session the call came. */
export function possessorOf({ possessed_by }: JsonObject): number | null {
  return typeof possessed_by === 'number' ? possessed_by : null;
}

/** The mark of the address from which it was paid. */
export function paidFromOf({ paid_from_mark }: JsonObject): string {
  return String(paid_from_mark);
}

/** The mark of the router key under which it is answered; null if there is none, and on old claims. */
export function routerKeyMarkOf({ router_key_mark }: JsonObject): string | null {
  return typeof router_key_mark === 'string' ? router_key_mark : null;
}

/** The mark of the Idempotency-Key under which it is bought; null if none was sent, and on old claims. */
export function idempotencyMarkOf({ idempotency_mark }: JsonObject): string | null {
  return typeof idempotency_mark === 'string' ? idempotency_mark : null;
}

/** Where the calls of these claims land, which the transaction holds. */
export async function landingsOf(tx: Tx, claim_keys: readonly string[]) {
  const { rows } = await tx.query<{ task_id: string; agent_id: number | null; landing: JsonObject }>({
    name: 'landings of claims',
    text: 'select task_id, agent_id, landing from payment_claim where claim_key = any($1)',
    values: [claim_keys],
  });
  return rows;
}
