import { type AtomicAmount, atomicAmount } from '../../../schema/amount.ts';
import type { Database, Tx } from '../../database.ts';

/** Balance of a payer, as read from the chain shortly before the claim. */
export interface Funds {
  readonly balance_atomic: bigint;
  /** Keys of those open claims of the payer whose money had already left that balance. */
  readonly moved: readonly string[];
}

/** The members of a claim request that are needed to check the balance of its payer. */
interface FundedRequest {
  readonly claim_key: string;
  readonly payer: string;
  readonly amount_atomic: AtomicAmount;
  readonly means: Funds | null;
}

/**
 * Returns the keys of those requests for which the open claims of the payer leave too little balance: a wallet that holds the price of one
 * call must not get the work of twenty calls at once. Only work is at risk, because the chain never moves more than the balance. So nothing
 * is locked, and if several processes claim at the same moment, each may admit one batch too many.
 *
 * A settling claim may have moved before the balance was read. It would be subtracted twice, and a payer with exactly enough money would be
 * refused wrongly. So the caller must check the claims and list those that have moved in `moved`.
 */
export function beyondBalance(open: OpenAmounts, requests: readonly FundedRequest[]): ReadonlySet<string> {
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

/** Amounts in atomic USDC by group name. */
export type OpenAmounts = ReadonlyMap<string, bigint>;

/**
 * Total amount of each payer's open claims. Claims that have moved or expired are left out, because they will take nothing more. It depends
 * on no other read of the claim, so it is sent together with them.
 */
export async function readOpenAmounts(tx: Tx, requests: readonly FundedRequest[]): Promise<OpenAmounts> {
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
    changes_nothing: true,
    text: `select g.name, o.open_atomic from jsonb_to_recordset($1::jsonb) as g(name text, payer text, moved jsonb),
      lateral (select coalesce(sum(c.amount_atomic), 0) as open_atomic from payment_claim c
        where c.payer = g.payer and c.state in ('claimed', 'settling')
          and c.valid_before > extract(epoch from now())::bigint and not g.moved ? c.claim_key) o`,
    values: [JSON.stringify([...groups.values()])],
  });
  return new Map(rows.map(({ name, open_atomic }) => [name, open_atomic]));
}

/** Open claims of a payer, whose money may have left the balance before they are recorded. At most `OPEN_CLAIMS_MAX`, the oldest first. */
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

/** Maximum number of claims per query to the chain. Further claims count as not moved, which harms only a payer with that many claims. */
const OPEN_CLAIMS_MAX = 200;

/** The payer's claims that were sent and are settling, with their transactions. On Solana each claim has exactly one. */
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

/** Amount that open and held payments reserve on a book, in atomic USDC. Each was reserved in the commit that claimed the payment. */
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
