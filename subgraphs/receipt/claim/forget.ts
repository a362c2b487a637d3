import { limits } from '../../../schema/limits.ts';
import type { Database } from '../../database.ts';
import { RESTING } from './former-payments.ts';
import { mayRun } from './lease.ts';

/** How long data without further use is kept. */
export interface Retention {
  /** Hours for which answers and requests are kept for redelivery. Receipts are kept forever. */
  readonly answer_hours: number;
  /** Seconds for which failed payments are kept after they have expired. */
  readonly lapsed_seconds: number;
  /** Seconds after the release for which payments are kept that make their payers wait before the next payment. */
  readonly reverted_seconds: number;
}

/**
 * Deletes stored answers and requests, and failed payments that can never be used again, because unpaid callers must not be able to fill
 * the disk. Payments are deleted only if their outcome on the chain is final (`final`). Payments that are recorded, in progress, or might
 * still turn out to have moved are kept, and so is the request of a payment that is being answered. Each statement deletes a few rows and
 * skips rows that another process has locked, because processes could otherwise wait for each other in a circle.
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

/** Repeats a statement until it finds less than a full batch. Its `$1` is the size of a batch; `values` are the parameters after it. */
async function inBatches(
  database: Pick<Database, 'query'>,
  { values, ...statement }: { readonly name: string; readonly text: string; readonly values: readonly number[] },
): Promise<void> {
  const limit = limits.claims_forgotten_per_transaction_max;
  while ((await database.query({ ...statement, values: [limit, ...values] })).length === limit);
}
