import { policyLimits } from '../../../schema/limits.ts';

/* SQL of what is read of approval requests (as `a`): one meaning, wherever it is asked for. */

/** Milliseconds of a moment. */
export const ms = (moment: string) => `floor(extract(epoch from ${moment}) * 1000)::int8`;

/**
 * A claim holds its approval from its own transaction on for as long as it is not let go of. One that was, however that came
 * about, holds none; nor does one that was made anew since, for this or another request, unless it took the approval again.
 */
export const TAKEN = `exists (select from payment_claim c
  where c.claim_key = a.taken_by and c.state <> 'released' and c.landing->>'approval' = a.approval_id)`;

/** For how long an approval is fresh on the book (as `b`). */
export const TTL_SECONDS = `coalesce((b.policy->>'approval_ttl')::int, ${policyLimits.approval_ttl_seconds})`;
