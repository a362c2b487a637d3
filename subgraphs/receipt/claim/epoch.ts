import type { NetworkName } from '../../../schema/network.ts';
import type { Tx } from '../../database.ts';
import { abandonSettlements } from './settlement/journal.ts';

export interface KnownChain {
  readonly epoch: number;
  readonly genesis_hash: string;
  readonly last_block: number;
  readonly last_hash: string;
}

/**
 * Reads the chain of the newest epoch; null before the first. It takes a lock that ends with the transaction, so that starting processes
 * check the chain one after another.
 */
export async function knownChain(tx: Tx, network: string): Promise<KnownChain | null> {
  await tx.query({ text: `select pg_advisory_xact_lock(hashtext('chain_epoch ' || $1))`, values: [network] });
  const { rows } = await tx.query<KnownChain>({
    text: `select epoch, genesis_hash, last_block, last_hash from chain_epoch where network = $1 order by epoch desc limit 1`,
    values: [network],
  });
  return rows[0] ?? null;
}

export async function beginEpoch(tx: Tx, network: string, chain: KnownChain): Promise<void> {
  await tx.query({
    text: `insert into chain_epoch (network, epoch, genesis_hash, last_block, last_hash, started_at) values ($1, $2, $3, $4, $5, now())`,
    values: [network, chain.epoch, chain.genesis_hash, chain.last_block, chain.last_hash],
  });
}

/** Stores the newest final block. Several processes may store one; the highest number stays. */
export async function rememberBlock(
  tx: Tx,
  network: string,
  epoch: number,
  number: number,
  hash: string,
): Promise<void> {
  await tx.query({
    name: 'remember block',
    text: `update chain_epoch set last_block = $3, last_hash = $4 where network = $1 and epoch = $2 and last_block < $3`,
    values: [network, epoch, number, hash],
  });
}

/** A claim that was open or held when its chain ended, and the amount that it had reserved on a book, in atomic USDC. */
export interface EndedClaim {
  readonly task_id: string;
  readonly agent_id: number | null;
  readonly reserved_atomic: bigint;
}

/**
 * Releases the open, held and not yet final claims of a chain that no longer exists. Nothing can settle on that chain, payments that moved
 * there without a record have not moved on the new chain, and the keys begin at nonce 0 again. All slots of these claims are freed, also
 * those that otherwise stay with a payment until its outcome on the chain is final. Returns the claims that were open or held, for further
 * clean-up.
 */
export async function closeOpenClaims(tx: Tx, network: NetworkName): Promise<readonly EndedClaim[]> {
  const { rows } = await tx.query<EndedClaim & { open: boolean }>({
    text: `with standing as (
        select claim_key, state <> 'released' as open from payment_claim
        where network = $1 and (state in ('claimed', 'settling', 'held') or (state = 'released' and not final))
        order by claim_key for update),
      dropped as (delete from claim_slot where claim_key in (select claim_key from standing)),
      undoubted as (delete from doubted_payment where network = $1)
      update payment_claim c set state = 'released', final = true, lease_owner = null, held_transfer = null,
        reason = 'chain_epoch_ended', moved_at = now()
      from standing s where c.claim_key = s.claim_key returning c.task_id, c.agent_id, c.reserved_atomic, s.open`,
    values: [network],
  });
  await abandonSettlements(tx, network);
  await tx.query({
    text: `update receipt set chain_ended = true where starts_with(payment_ref, $1 || ':') and not chain_ended`,
    values: [network],
  });
  return rows.filter(({ open }) => open);
}
