import type { Database } from '../../database.ts';

/* What the former payments of a wallet show: that they were reverted recently, or that code has signed for them. */

/**
 * SQL: a payment on Solana that expired before it was sent. The payer signed over an old blockhash, which gives less
 * time than the work takes. One that expired after it was sent may be the chain's fault.
 */
const RAN_OUT = `network = 'solana' and reason = 'expired' and settlement_id is null`;

/** SQL: what is kept for as long as its payer is to rest. */
export const RESTING = `(reason = 'reverted' or (${RAN_OUT}))`;

/**
 * Whether a payment that could say yes to its simulation and no to the chain was reverted so short a time ago: one that
 * code at the payer's address had to judge, or a transaction that the payer made up himself (Solana); or ran out on us.
 */
export async function walletRevertedLately(
  database: Pick<Database, 'query'>,
  payer: string,
  seconds: number,
): Promise<boolean> {
  const rows = await database.query({
    name: 'wallet reverted lately',
    text: `select 1 from payment_claim where payer = $1 and reason = 'reverted'
        and moved_at > now() - make_interval(secs => $2) and "authorization"->'signature'->>'kind' in ('contract', 'partial')
      union all select 1 from payment_claim where payer = $1 and ${RAN_OUT} and moved_at > now() - make_interval(secs => $2)
      limit 1`,
    values: [payer, seconds],
  });
  return rows.length > 0;
}

/** SQL: what moved money, or may have, by a signature that code at the payer's address had to judge; its index says the same. */
const PAID_BY_CODE = `state in ('settling', 'recorded') and "authorization"->'signature'->>'kind' = 'contract'`;

/** A wallet whose code has signed for such a payment. */
export interface ContractPayer {
  /** In EIP-55 spelling. */
  readonly payer: string;
  /** Its newest is no older than requested. */
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
