import type { JsonObject } from '../../../schema/canonical-json.ts';
import type { Tx } from '../../database.ts';

/* The members of a landing (where and how a call is recorded) that claims use. Only the charge reads the others. */

/** Agent under whose session the call was made. Null without a session. */
export function possessorOf({ possessed_by }: JsonObject): number | null {
  return typeof possessed_by === 'number' ? possessed_by : null;
}

/** Keyed hash of the network address from which the payment was sent. */
export function paidFromOf({ paid_from_mark }: JsonObject): string {
  return String(paid_from_mark);
}

/** Keyed hash of the router key under which the call is answered. Null if there is none, and on old claims. */
export function routerKeyMarkOf({ router_key_mark }: JsonObject): string | null {
  return typeof router_key_mark === 'string' ? router_key_mark : null;
}

/** Keyed hash of the Idempotency-Key under which the call is bought. Null if none was sent, and on old claims. */
export function idempotencyMarkOf({ idempotency_mark }: JsonObject): string | null {
  return typeof idempotency_mark === 'string' ? idempotency_mark : null;
}

/** Landings of claims that the transaction has locked. */
export async function landingsOf(tx: Tx, claim_keys: readonly string[]) {
  const { rows } = await tx.query<{ task_id: string; agent_id: number | null; landing: JsonObject }>({
    name: 'landings of claims',
    text: 'select task_id, agent_id, landing from payment_claim where claim_key = any($1)',
    values: [claim_keys],
  });
  return rows;
}
