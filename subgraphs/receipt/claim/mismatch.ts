import { limits } from '../../../schema/limits.ts';
import type { Database } from '../../database.ts';

/** Requests that were shown with a payment made for another: by address, each under its mark, and by all together. */
export interface Mismatches {
  readonly total: number;
  readonly of: Readonly<Record<string, number>>;
}

/** Whether a caller from that address must prove to be the payer: this address, or every address but the payer's, may have been guessing. */
export function isGuessing({ total, of }: Mismatches, address_mark: string): boolean {
  return total >= limits.payment_mismatches_max || (of[address_mark] ?? 0) >= limits.payment_mismatches_per_address_max;
}

/** Counts one, in one write; none where all are told apart no more, so that guessing on writes nothing. */
export async function countMismatch(database: Database, claim_key: string, address_mark: string): Promise<void> {
  await database.query({
    name: 'count mismatch',
    text: `update payment_claim set mismatches = jsonb_build_object('total', ${TOTAL} + 1, 'of',
        coalesce(mismatches->'of', '{}') || jsonb_build_object($2::text, coalesce((mismatches->'of'->>$2)::int, 0) + 1))
      where claim_key = $1 and ${TOTAL} < $3`,
    values: [claim_key, address_mark, limits.payment_mismatches_max],
  });
}

const TOTAL = `coalesce((mismatches->>'total')::int, 0)`;
