import { spelt } from '../../../schema/eip55.ts';
import { reconciliationLimits } from '../../../schema/limits.ts';
import type { Database } from '../../database.ts';

interface Payer {
  readonly agent_id: number;
  /** Lower-case: known beforehand. */
  readonly wallets: readonly string[];
}

/**
 * Which of these payees are the payer's own, in lower case: those that are known, and those that have paid for calls of the
 * same agent, since whoever pays for them is its owner's hand. A payment to somebody else that was only told of says nothing.
 */
export async function ownAmong(
  database: Pick<Database, 'query'>,
  payees: readonly string[],
  { agent_id, wallets }: Payer,
): Promise<ReadonlySet<string>> {
  const known = new Set(wallets);
  const others = [...new Set(payees)].filter(payee => !known.has(payee));
  if (others.length === 0) return known;
  const paid = await database.query<{ wallet: string }>({
    name: 'payees that pay for an agent',
    text: `select p.wallet from unnest($2::text[]) as p(wallet) where exists (
      select from (
        select r.agent_id, r.book_seq from receipt r where r.payer_wallet = p.wallet and r.payment_ref is not null
        order by r.leaf_index desc limit $3) newest
      join book_row b on b.agent_id = newest.agent_id and b.seq = newest.book_seq
      where newest.agent_id = $1 and b.collected and b.evidence <> 'foreign_ingest')`,
    values: [agent_id, others.map(spelt), reconciliationLimits.payer_receipts_looked_at_max],
  });
  return new Set([...wallets, ...paid.map(({ wallet }) => wallet.toLowerCase())]);
}
