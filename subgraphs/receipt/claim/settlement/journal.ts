import type { NetworkName } from '../../../../schema/network.ts';
import type { Database, Tx } from '../../../database.ts';
import { feeCorrection } from './fee.ts';

/** A settlement that is committed before its transaction can be seen on the chain. */
export interface NewSettlement {
  readonly network: NetworkName;
  readonly settlement_id: string;
  readonly key_address: string;
  readonly authorizations: number;
  readonly from_block: number;
  readonly valid_before_max: number;
}

export interface Attempt {
  readonly tx_hash: string;
  /** Nonce of the signing key. Solana has no nonces; there it is the height of the last block that accepts the transaction. */
  readonly nonce: number;
  /** Signed bytes: hex on Base, base64 on Solana. */
  readonly raw: string;
  readonly max_fee_wei: bigint;
  readonly priority_fee_wei: bigint;
}

export function journalSettlement(tx: Tx, settlement: NewSettlement, attempt: Attempt): void {
  const { network, settlement_id, key_address, authorizations, from_block, valid_before_max } = settlement;
  tx.write({
    name: 'insert settlement',
    text: `insert into settlement (network, settlement_id, key_address, authorizations, from_block, valid_before_max, state, created_at)
      values ($1, $2, $3, $4, $5, $6, 'sent', clock_timestamp())`,
    values: [network, settlement_id, key_address, authorizations, from_block, valid_before_max],
  });
  journalAttempt(tx, settlement_id, attempt);
}

export function journalAttempt(tx: Tx, settlement_id: string, attempt: Attempt): void {
  const { tx_hash, nonce, raw, max_fee_wei, priority_fee_wei } = attempt;
  tx.write({
    name: 'insert settlement attempt',
    text: `insert into settlement_attempt (tx_hash, settlement_id, nonce, raw, max_fee_wei, priority_fee_wei, created_at)
      values ($1, $2, $3, $4, $5, $6, clock_timestamp())`,
    values: [tx_hash, settlement_id, nonce, raw, max_fee_wei.toString(), priority_fee_wei.toString()],
  });
}

/**
 * Locks a settlement before another attempt is added to it. False if another process is adding an attempt or has added one. `newest` is the
 * hash of the attempt on which the decision was based.
 */
export async function lockForAttempt(tx: Tx, settlement_id: string, newest: string): Promise<boolean> {
  const { rowCount } = await tx.query({
    name: 'lock settlement',
    text: `select 1 from settlement where settlement_id = $1 and state = 'sent' for update skip locked`,
    values: [settlement_id],
  });
  if (rowCount !== 1) return false;
  const { rows } = await tx.query<{ tx_hash: string }>({
    name: 'newest attempt',
    text: `select tx_hash from settlement_attempt where settlement_id = $1 order by created_at desc, max_fee_wei desc limit 1`,
    values: [settlement_id],
  });
  return rows[0]?.tx_hash === newest;
}

/** Block that contains a settlement, and the fee that was paid for the settlement, if known. */
export interface MinedBlock {
  readonly block_number: number;
  readonly block_hash: string;
  readonly fee_wei?: bigint | null;
}

/**
 * Compare-and-set sent → mined. A mined settlement that a reorganisation moved to another block gets the new block. The fee is corrected
 * first: after a crash between the two statements, the settlement is still `sent` and is marked again.
 */
export async function markMined(
  database: Pick<Database, 'query'>,
  settlement_id: string,
  block: MinedBlock,
): Promise<void> {
  const { fee_wei = null } = block;
  if (fee_wei !== null) await database.query(feeCorrection(settlement_id, fee_wei));
  await database.query({
    name: 'mark settlement mined',
    text: `update settlement set state = 'mined', block_number = $2, block_hash = $3
      where settlement_id = $1 and state in ('sent', 'mined')`,
    values: [settlement_id, block.block_number, block.block_hash],
  });
}

/** Compare-and-set mined → final, or back to sent if the settlement is no longer on the chain. True for the process that changed it. */
export async function markRechecked(tx: Tx, settlement_id: string, state: 'final' | 'sent'): Promise<boolean> {
  const { rowCount } = await tx.query({
    name: 'mark settlement rechecked',
    text: `update settlement set state = $2, block_number = case when $2 = 'final' then block_number end,
        block_hash = case when $2 = 'final' then block_hash end
      where settlement_id = $1 and state = 'mined'`,
    values: [settlement_id, state],
  });
  return rowCount === 1;
}

/**
 * Abandons a settlement that can move nothing because another transaction used its nonce and all its payments have expired. The caller
 * holds its lock (`lockForAttempt`).
 */
export async function abandonSettlement(tx: Tx, settlement_id: string): Promise<void> {
  await tx.query({
    name: 'abandon settlement',
    text: `update settlement set state = 'abandoned' where settlement_id = $1 and state = 'sent'`,
    values: [settlement_id],
  });
  tx.write(feeCorrection(settlement_id, null));
}

/**
 * Abandons all open settlements of a development chain that was restarted. The new chain has other nonces, and never mines transactions of
 * the old one.
 */
export async function abandonSettlements(tx: Tx, network: NetworkName): Promise<void> {
  // Only keys on Base have nonces, so only these have rows.
  if (network === 'base') await tx.query({ text: 'delete from settler_key' });
  await tx.query({ text: 'delete from doubted_payment where network = $1', values: [network] });
  await tx.query({
    text: `update settlement set state = 'abandoned' where network = $1 and state in ('sent', 'mined')`,
    values: [network],
  });
}
