import { limits } from '../../../schema/limits.ts';
import type { Database } from '../../database.ts';
import { RESTING } from './former-payments.ts';
import { mayRun } from './lease.ts';

/** How long data without further use is kept. */
export interface Retention {
  /** For answers and requests, for redelivery. Receipts are kept for good. */
  readonly answer_hours: number;
  /** Payments that failed, after they have lapsed. */
  readonly lapsed_seconds: number;
  /** Payments for which their payers must pause, after their release. */
  readonly reverted_seconds: number;
}

/**
 * Deletes stored answers and requests, and payments that failed and can never be used any more: an unpaid caller must not fill the disk.
 * Only payments whose outcome on the chain is final are deleted (`final`): whatever was recorded, is in progress, or may yet be found to
 * have moved stays, and so does the request of a payment that is being answered. A few rows at a time, each by one process: rows that
 * another process has locked are passed over, or processes would wait for each other in a circle.
 */
export async function forgetClaims(
  database: Pick<Database, 'query'>,
  { answer_hours, lapsed_seconds, reverted_seconds }: Retention,
): Promise<void> {
  await inBatches(database, {
    name: 'forget answers',
    text: `update payment_claim set answer_box = null, request_box = '' where claim_key in (
        select claim_key from payment_claim
        where state = 'recorded' and request_box <> '' and moved_at < now() - make_interval(hours => $2)
          and (${mayRun('rerun_at')}) is not true
        limit $1 for update skip locked) returning 1`,
    values: [answer_hours],
  });
  await inBatches(database, {
    name: 'forget lapsed claims',
    text: `delete from payment_claim where claim_key in (
        select claim_key from payment_claim where state = 'released' and final
          and valid_before < extract(epoch from now())::bigint - $2
          and (${RESTING} is not true or moved_at < now() - make_interval(secs => $3))
        limit $1 for update skip locked) returning 1`,
    values: [lapsed_seconds, reverted_seconds],
  });
}

/** `$1` is how many at once. */
async function inBatches(
  database: Pick<Database, 'query'>,
  { values, ...statement }: { readonly name: string; readonly text: string; readonly values: readonly number[] },
): Promise<void> {
  const limit = limits.claims_forgotten_per_transaction_max;
  while ((await database.query({ ...statement, values: [limit, ...values] })).length === limit);
}
