import { limits } from '../../../schema/limits.ts';
import type { Database } from '../../database.ts';

/**
 * Counts of requests that came with a payment made for another request: `of` by the mark of the sender's address, `total` over all
 * addresses.
 */
export interface Mismatches {
  readonly total: number;
  readonly of: Readonly<Record<string, number>>;
}

/**
 * Whether a caller from this address must prove to be the payer, because this address, or all addresses together, may have been guessing.
 */
export function isGuessing({ total, of }: Mismatches, address_mark: string): boolean {
  return total >= limits.payment_mismatches_max || (of[address_mark] ?? 0) >= limits.payment_mismatches_per_address_max;
}

interface ShownRequest {
  readonly claim_key: string;
  readonly address_mark: string;
  /** Whether the payment was made for another request. */
  readonly is_wrong: boolean;
}

/**
 * Counts a request that came with a payment, under the row lock of its claim, so that each of many simultaneous requests sees the counts of
 * all before it. Returns the counts before this request; null if there were none. A wrong request is counted until a limit is reached, a
 * right one never.
 */
export async function takeShown(
  database: Pick<Database, 'query'>,
  { claim_key, address_mark, is_wrong }: ShownRequest,
): Promise<Mismatches | null> {
  const [row] = await database.query<{ mismatches: Mismatches | null }>({
    name: 'take shown',
    text: `with shown as (
        select claim_key, mismatches, coalesce((mismatches->>'total')::int, 0) as total,
          coalesce((mismatches->'of'->>$2)::int, 0) as of_address
        from payment_claim where claim_key = $1 for no key update),
      counted as (
        update payment_claim p set mismatches = jsonb_build_object('total', s.total + 1, 'of',
          coalesce(s.mismatches->'of', '{}') || jsonb_build_object($2::text, s.of_address + 1))
        from shown s where p.claim_key = s.claim_key and $3 and s.total < $4 and s.of_address < $5)
      select mismatches from shown`,
    values: [
      claim_key,
      address_mark,
      is_wrong,
      limits.payment_mismatches_max,
      limits.payment_mismatches_per_address_max,
    ],
  });
  return row?.mismatches ?? null;
}
