import { policyLimits } from '../../../schema/limits.ts';

/* SQL expressions over approval requests (as `a`), so that each has one meaning everywhere. */

/** Milliseconds of a time. */
export const ms = (moment: string) => `floor(extract(epoch from ${moment}) * 1000)::int8`;

/**
 * A claim holds its approval from its own transaction until it is released. A released or renewed claim holds none, unless it took
 * the approval again.
 */
export const TAKEN = `exists (select from payment_claim c
  where c.claim_key = a.taken_by and c.state <> 'released' and c.landing->>'approval' = a.approval_id)`;

/** Seconds for which an approval is fresh on the book (as `b`). */
export const TTL_SECONDS = `coalesce((b.policy->>'approval_ttl')::int, ${policyLimits.approval_ttl_seconds})`;
