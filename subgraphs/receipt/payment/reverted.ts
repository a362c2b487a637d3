import type { Database } from '../../database.ts';

/**
 * Whether a payment that could say yes to its simulation and no to the chain was reverted so short a time ago: one that
 * code at the payer's address had to judge, or a transaction that the payer made up himself (Solana).
 */
export async function walletRevertedLately(
  database: Pick<Database, 'query'>,
  payer: string,
  seconds: number,
): Promise<boolean> {
  const rows = await database.query({
    name: 'wallet reverted lately',
    text: `select 1 from payment_claim where payer = $1 and reason = 'reverted'
      and moved_at > now() - make_interval(secs => $2) and "authorization"->'signature'->>'kind' in ('contract', 'partial') limit 1`,
    values: [payer, seconds],
  });
  return rows.length > 0;
}
