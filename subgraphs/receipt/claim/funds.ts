import { type AtomicAmount, atomicAmount } from '../../../schema/amount.ts';
import type { Database, Tx } from '../../database.ts';

/** What a payer has, as the chain was seen a moment before the claim. */
export interface Funds {
  readonly balance_atomic: bigint;
  /** The payer's open claims, by key, whose money had left that balance by then. */
  readonly moved: readonly string[];
}

/** The part of a claim's request by which its payer's balance is judged. */
interface FundedRequest {
  readonly claim_key: string;
  readonly payer: string;
  readonly amount_atomic: AtomicAmount;
  readonly means: Funds | null;
}

/**
 * Those of these requests that their payers' open claims leave nothing for: a wallet that holds the price of one call must
 * not have twenty worked for at once. Only work is at stake: what is not there the chain will not move. So nothing is
 * locked, and of processes that claim in the same moment each may let one batch too many pass.
 *
 * A claim that is settling may have moved by the time that the balance was read: then it is subtracted twice, and a payer
 * of exact means would be refused wrongly. The caller has to look again, and say in `moved` which those are.
 */
export async function beyondBalance(tx: Tx, requests: readonly FundedRequest[]): Promise<ReadonlySet<string>> {
  const open = await openAmounts(tx, requests);
  const promised = new Map<string, bigint>();
  const beyond = new Set<string>();
  for (const { claim_key, payer, amount_atomic, means } of requests) {
    if (means === null) continue;
    const mine = promised.get(payer) ?? 0n;
    if ((open.get(groupOf(payer, means)) ?? 0n) + mine + amount_atomic > means.balance_atomic) beyond.add(claim_key);
    else promised.set(payer, mine + amount_atomic);
  }
  return beyond;
}

const groupOf = (payer: string, { moved }: Funds): string => [payer, ...moved].join(' ');

/** What each payer's open claims will take, but for those that have moved; expired ones can take nothing any more. */
async function openAmounts(tx: Tx, requests: readonly FundedRequest[]): Promise<ReadonlyMap<string, bigint>> {
  const groups = new Map(
    requests.flatMap(({ payer, means }) => {
      if (means === null) return [];
      const name = groupOf(payer, means);
      return [[name, { name, payer, moved: means.moved }] as const];
    }),
  );
  if (groups.size === 0) return new Map();
  const { rows } = await tx.query<{ name: string; open_atomic: bigint }>({
    name: 'open amounts of payers',
    text: `select g.name, o.open_atomic from jsonb_to_recordset($1::jsonb) as g(name text, payer text, moved jsonb),
      lateral (select coalesce(sum(c.amount_atomic), 0) as open_atomic from payment_claim c
        where c.payer = g.payer and c.state in ('claimed', 'settling')
          and c.valid_before > extract(epoch from now())::bigint and not g.moved ? c.claim_key) o`,
    values: [JSON.stringify([...groups.values()])],
  });
  return new Map(rows.map(({ name, open_atomic }) => [name, open_atomic]));
}

/** Claims of a payer that may have left their balance without being recorded yet; the oldest, if there are many. */
export async function openClaimsOf(
  database: Pick<Database, 'query'>,
  payer: string,
): Promise<readonly { claim_key: string; payment_id: string }[]> {
  return database.query<{ claim_key: string; payment_id: string }>({
    name: 'open claims of payer',
    text: `select claim_key, payment_id from payment_claim
      where payer = $1 and state in ('claimed', 'settling') order by moved_at limit $2`,
    values: [payer, OPEN_CLAIMS_MAX],
  });
}

/** Number of claims per query to the chain; further ones count as not moved, which harms only a payer with so many. */
const OPEN_CLAIMS_MAX = 200;

/** Those of a payer's open claims that were sent, by the one transaction that each has on Solana. */
export async function openSignaturesOf(
  database: Pick<Database, 'query'>,
  payer: string,
): Promise<readonly { claim_key: string; tx_hash: string }[]> {
  return database.query<{ claim_key: string; tx_hash: string }>({
    name: 'open signatures of payer',
    text: `select c.claim_key, a.tx_hash from payment_claim c join settlement_attempt a using (settlement_id)
      where c.payer = $1 and c.state = 'settling' order by c.moved_at limit $2`,
    values: [payer, OPEN_CLAIMS_MAX],
  });
}

/** What open payments hold on a book: each was reserved there in the commit that claimed it. */
export async function heldOnBook(tx: Tx, agent_id: number): Promise<AtomicAmount> {
  const { rows } = await tx.query<{ held: bigint | null }>({
    name: 'held on book',
    text: `select sum(reserved_atomic) as held from (
        select reserved_atomic from payment_claim where state in ('claimed', 'settling') and agent_id = $1
        union all select reserved_atomic from payment_claim where state = 'held' and agent_id = $1) as held_open`,
    values: [agent_id],
  });
  return atomicAmount(rows[0]?.held ?? 0n);
}
