import type { NetworkName } from '../../../../schema/network.ts';
import type { Database } from '../../../database.ts';
import type { Attempt } from './journal.ts';
import type { SettlementState } from './settlement.entity.ts';

/** A settlement with all its attempts, oldest first. */
export interface OpenSettlement {
  readonly settlement_id: string;
  readonly key_address: string;
  readonly from_block: number;
  /** Time from which on none of its payments can move, in seconds since the epoch. */
  readonly valid_before_max: number;
  readonly state: SettlementState;
  readonly block_number: number | null;
  readonly block_hash: string | null;
  /** Time since its newest attempt, by the database's clock. */
  readonly age_ms: number;
  readonly attempts: readonly Attempt[];
}

type OpenRow = Omit<OpenSettlement, 'attempts'> & Attempt;

const OPEN = `select s.settlement_id, s.key_address, s.from_block, s.valid_before_max, s.state, s.block_number, s.block_hash,
    a.tx_hash, a.nonce, a.raw, a.max_fee_wei, a.priority_fee_wei,
    (extract(epoch from now() - max(a.created_at) over (partition by s.settlement_id)) * 1000)::float8 as age_ms
  from settlement s join settlement_attempt a using (settlement_id)`;
const ORDER = 'order by a.nonce, s.settlement_id, a.created_at, a.max_fee_wei';

/** Settlements that were sent and not seen mined, in the order of their nonces, because a gap blocks all transactions after it. */
export async function sentSettlements(
  database: Pick<Database, 'query'>,
  key_addresses: readonly string[],
  count_max: number,
): Promise<OpenSettlement[]> {
  const rows = await database.query<OpenRow>({
    name: 'sent settlements',
    text: `${OPEN} where s.settlement_id in (select settlement_id from settlement
        where state = 'sent' and key_address = any($1) order by created_at limit $2) ${ORDER}`,
    values: [key_addresses, count_max],
  });
  return groupAttempts(rows);
}

/** Settlements that were seen mined and are not final yet, oldest block first. */
export async function minedSettlements(
  database: Pick<Database, 'query'>,
  network: NetworkName,
  count_max: number,
): Promise<OpenSettlement[]> {
  const rows = await database.query<OpenRow>({
    name: 'mined settlements',
    text: `${OPEN} where s.settlement_id in (select settlement_id from settlement
        where state = 'mined' and network = $1 order by block_number limit $2) ${ORDER}`,
    values: [network, count_max],
  });
  return groupAttempts(rows);
}

export async function findSettlement(
  database: Pick<Database, 'query'>,
  settlement_id: string,
): Promise<OpenSettlement | null> {
  const rows = await database.query<OpenRow>({
    name: 'find settlement',
    text: `${OPEN} where s.settlement_id = $1 ${ORDER}`,
    values: [settlement_id],
  });
  return groupAttempts(rows)[0] ?? null;
}

/**
 * Hash of the transaction in which a facilitator says that the payment moved, or else of the newest one that was sent for it. Null if none
 * is known.
 */
export async function transactionOf(database: Pick<Database, 'query'>, claim_key: string): Promise<string | null> {
  const [row] = await database.query<{ tx_hash: string | null }>({
    name: 'transaction of claim',
    text: `select coalesce(vouched_tx, (select tx_hash from settlement_attempt a where a.settlement_id = s.settlement_id
        order by created_at desc, max_fee_wei desc limit 1)) as tx_hash
      from payment_claim join settlement s using (settlement_id)
      where claim_key = $1 and payment_claim.state in ('settling', 'recorded')`,
    values: [claim_key],
  });
  return row?.tx_hash ?? null;
}

function groupAttempts(rows: readonly OpenRow[]): OpenSettlement[] {
  const settlements = new Map<string, OpenSettlement & { attempts: Attempt[] }>();
  for (const { tx_hash, nonce, raw, max_fee_wei, priority_fee_wei, ...settlement } of rows) {
    const known = settlements.get(settlement.settlement_id) ?? { ...settlement, attempts: [] };
    known.attempts.push({ tx_hash, nonce, raw, max_fee_wei, priority_fee_wei });
    settlements.set(settlement.settlement_id, known);
  }
  return [...settlements.values()];
}
