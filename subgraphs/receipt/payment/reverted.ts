import type { Database } from '../../database.ts';

/** Whether a payment that code at the payer's address had to judge was reverted on the chain so short a time ago. */
export async function walletRevertedLately(
  database: Pick<Database, 'query'>,
  payer: string,
  seconds: number,
): Promise<boolean> {
  const rows = await database.query({
    name: 'wallet reverted lately',
    text: `select 1 from payment_claim where payer = $1 and reason = 'reverted'
      and moved_at > now() - make_interval(secs => $2) and "authorization"->'signature'->>'kind' = 'contract' limit 1`,
    values: [payer, seconds],
  });
  return rows.length > 0;
}
