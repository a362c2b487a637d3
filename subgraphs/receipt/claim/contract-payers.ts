import type { Database } from '../../database.ts';

/** SQL: what moved money, or may have, by a signature that code at the payer's address had to judge; its index says the same. */
const PAID_BY_CODE = `state in ('settling', 'recorded') and "authorization"->'signature'->>'kind' = 'contract'`;

/** A wallet whose code has signed for such a payment. */
export interface ContractPayer {
  /** In EIP-55 spelling. */
  readonly payer: string;
  /** Its newest is no older than what was asked for. */
  readonly lately: boolean;
}

/** Those of these wallets whose code ever signed for such a payment, and whether within that time. Addresses in EIP-55 spelling. */
export async function contractPayersAmong(
  database: Pick<Database, 'query'>,
  wallets: readonly string[],
  seconds: number,
): Promise<readonly ContractPayer[]> {
  return database.query<ContractPayer>({
    name: 'contract payers among',
    text: `select w.payer, newest.moved_at > now() - make_interval(secs => $2) as lately from unnest($1::text[]) as w(payer)
      cross join lateral (select moved_at from payment_claim c where c.payer = w.payer and ${PAID_BY_CODE}
        order by moved_at desc limit 1) as newest`,
    values: [wallets, seconds],
  });
}
