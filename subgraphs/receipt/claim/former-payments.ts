import type { Database } from '../../database.ts';

/* Reads from the earlier payments of a wallet whether one was reverted recently, and whether a contract signed for one. */

/**
 * SQL: true for a payment on Solana that expired before it was sent. The payer signed over an old blockhash, which leaves less time than
 * the work takes. A payment that expired after it was sent does not count, because the chain may be the cause.
 */
const RAN_OUT = `network = 'solana' and reason = 'expired' and settlement_id is null`;

/** SQL: true for a payment after which its payer must wait. It is kept as long as the wait lasts. */
export const RESTING = `(reason = 'reverted' or (${RAN_OUT}))`;

/**
 * Whether a payment of this wallet was reverted within the last `seconds` although its simulation could succeed: code at the payer's
 * address had to check it, or the payer composed its transaction (Solana). A payment on Solana that expired before it was sent counts too.
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

/**
 * SQL: true for a payment that has moved money, or may have, by a signature that code at the payer's address had to check. The index for it
 * has the same condition.
 */
const PAID_BY_CODE = `state in ('settling', 'recorded') and "authorization"->'signature'->>'kind' = 'contract'`;

/** A wallet whose contract has signed for at least one payment (`PAID_BY_CODE`). */
export interface ContractPayer {
  /** Address of the wallet, in EIP-55 spelling. */
  readonly payer: string;
  /** Whether the newest of these payments is at most as old as requested. */
  readonly lately: boolean;
}

/**
 * Returns those of the wallets whose contract has signed for a payment, and whether the newest of these payments is at most `seconds` old.
 * Addresses are in EIP-55 spelling.
 */
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
