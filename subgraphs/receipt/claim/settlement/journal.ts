import type { NetworkName } from '../../../../schema/network.ts';
import type { Database, Tx } from '../../../database.ts';
import { feeCorrection } from './fee.ts';

/** A settlement as it is committed, before it can be seen on the chain. */
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
  /** Nonce of the signing key. On Solana, which has none: the height of the last block that accepts it. */
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
 * Locks a settlement that is about to be given another attempt, unless another process is doing so or has: false then.
 * `newest` is the attempt that the decision was made on.
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

/** The block of a settlement, and the fee that was paid for it if that is known. */
export interface MinedBlock {
  readonly block_number: number;
  readonly block_hash: string;
  readonly fee_wei?: bigint | null;
}

/**
 * Compare-and-set sent → mined; also for one that a reorganisation moved to another block. Its fee is corrected first:
 * after a crash in between it is marked again.
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

/** Compare-and-set mined → final, or back to sent if the chain has lost it. True for the process that moved it. */
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

/** One that can move nothing any more and whose nonce is lost; its lock is held (`lockForAttempt`). */
export async function abandonSettlement(tx: Tx, settlement_id: string): Promise<void> {
  await tx.query({
    name: 'abandon settlement',
    text: `update settlement set state = 'abandoned' where settlement_id = $1 and state = 'sent'`,
    values: [settlement_id],
  });
  tx.write(feeCorrection(settlement_id, null));
}

/** A restarted development chain has other nonces, and never mines transactions of the old one. */
export async function abandonSettlements(tx: Tx, network: NetworkName): Promise<void> {
  // Only Base counts what a key has sent.
  if (network === 'base') await tx.query({ text: 'delete from settler_key' });
  await tx.query({ text: 'delete from doubted_payment where network = $1', values: [network] });
  await tx.query({
    text: `update settlement set state = 'abandoned' where network = $1 and state in ('sent', 'mined')`,
    values: [network],
  });
}
