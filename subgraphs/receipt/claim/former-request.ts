import { limits } from '../../../schema/limits.ts';
import type { Database } from '../../database.ts';
import { living } from './lease.ts';

/** A purchase as it would have been bound before requests were bound whole. */
export interface FormerRequest {
  readonly request_hash: string;
  /** The payment itself, and the slots of its names. */
  readonly claim_key: string;
  readonly slots: readonly string[];
}

/**
 * SQL: bound by the previous version, perhaps by a process that still runs. Recognised by the task id, which every
 * claim gets again: that version does not know the column.
 */
const IS_FORMER = 'c.whole_task_id is distinct from c.task_id';

const KEPT = `interval '${limits.answer_kept_hours} hours'`;

/**
 * Whether a payment is claimed for the request in its former form, moved a day ago at most. One that was released unsent has bought
 * nothing, and one that its book refused was judged without the members that are passed on now: both serve the request as it is.
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

/** The same of a call by key, by the mark of its name, while that is not to be had. */
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
