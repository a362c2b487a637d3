import { policyLimits } from '../../../schema/limits.ts';

/* SQL expressions over approval requests (alias `a`), written once so that all queries agree. */

/** A timestamp as Unix milliseconds. */
export const ms = (moment: string) => `floor(extract(epoch from ${moment}) * 1000)::int8`;

/**
 * Whether a claim holds the approval: from the transaction of the claim until its release. A claim that was released or renewed holds
 * the approval only if it took it again.
 */
export const TAKEN = `exists (select from payment_claim c
  where c.claim_key = a.taken_by and c.state <> 'released' and c.landing->>'approval' = a.approval_id)`;

/** Seconds for which an approval is valid under the current policy of the book (alias `b`). */
export const TTL_SECONDS = `coalesce((b.policy->>'approval_ttl')::int, ${policyLimits.approval_ttl_seconds})`;
