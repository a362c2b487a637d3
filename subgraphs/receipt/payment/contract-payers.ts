import type { Database } from '../../database.ts';

/** SQL: what moved money, or may have, by a signature that code at the payer's address had to judge; its index says the same. */
const PAID_BY_CODE = `state in ('settling', 'recorded') and "authorization"->'signature'->>'kind' = 'contract'`;

/** Those of these wallets whose code has signed for such a payment within that time. Addresses in EIP-55 spelling. */
export async function contractPayersAmong(
  database: Pick<Database, 'query'>,
  wallets: readonly string[],
  seconds: number,
): Promise<readonly string[]> {
  const rows = await database.query<{ payer: string }>({
    name: 'contract payers among',
    text: `select w.payer from unnest($1::text[]) as w(payer) where exists (select from payment_claim c
      where c.payer = w.payer and moved_at > now() - make_interval(secs => $2) and ${PAID_BY_CODE})`,
    values: [wallets, seconds],
  });
  return rows.map(({ payer }) => payer);
}
