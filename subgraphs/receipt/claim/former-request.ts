import { limits } from '../../../schema/limits.ts';
import type { Database } from '../../database.ts';
import { living } from './lease.ts';

/** A purchase in the form in which the previous version bound it, when the hash did not yet cover the whole request. */
export interface FormerRequest {
  readonly request_hash: string;
  /** Claim key of the payment. */
  readonly claim_key: string;
  /** Slots of the names of the purchase. */
  readonly slots: readonly string[];
}

/**
 * SQL: true for a row that the previous version wrote, perhaps in a process that still runs. That version does not write `whole_task_id`,
 * and every claim gets another task id, so the two columns then differ.
 */
const IS_FORMER = 'c.whole_task_id is distinct from c.task_id';

const KEPT = `interval '${limits.answer_kept_hours} hours'`;

/**
 * Whether the payment is claimed for the request in its former form, and the claim changed within the time for which answers are kept. A
 * claim that was released before it was sent does not count, because it has bought nothing. A claim that its book refused does not count
 * either, because it was judged without the members that are passed on now. In both cases the payment serves the whole request.
 */
export async function isFormerClaim(
  database: Pick<Database, 'query'>,
  { request_hash, claim_key, slots }: FormerRequest,
): Promise<boolean> {
  const found = await database.query({
    name: 'former claim',
    text: `select from payment_claim c
      where c.claim_key = any(array_append(array(select claim_key from claim_slot where slot = any($2)), $1))
        and c.request_hash = $3 and ${IS_FORMER} and c.moved_at > now() - ${KEPT}
        and c.refusal_id is null and (c.state <> 'released' or c.from_block is not null)`,
    values: [claim_key, slots, request_hash],
  });
  return found.length > 0;
}

/**
 * Whether the Idempotency-Key with this mark is in use for the request in its former form: the call is in progress, or its answer is still
 * kept.
 */
export async function isFormerKeyCall(
  database: Pick<Database, 'query'>,
  { mark, request_hash }: { readonly mark: string; readonly request_hash: string },
): Promise<boolean> {
  const found = await database.query({
    name: 'former call by key',
    text: `select from idempotent_call c where c.mark = $1 and c.request_hash = $2 and ${IS_FORMER}
      and (c.recorded_at > now() - ${KEPT} or (c.recorded_at is null and ${living('c.lease_owner', 'c.begun_at')}))`,
    values: [mark, request_hash],
  });
  return found.length > 0;
}
