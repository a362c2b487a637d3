import { checksummedAddress } from '../../../schema/eip55.ts';
import { limits } from '../../../schema/limits.ts';
import { networks } from '../../../schema/network.ts';
import type { ObservedTransfer } from '../../../schema/observed-transfer.ts';
import type {
  ChainPosition,
  NamedTransfer,
  Observation,
  TransferStanding,
} from '../../../subgraphs/foreign-transfers.ts';
import type { Hex } from '../base/abi.ts';
import type { BaseChain, ChainBlock, ChainReceipt } from '../base/chain.ts';
import { readTransfer } from '../base/contracts.ts';
import type { ChainAnswer } from '../rpc.ts';
import {
  contradiction,
  isSameTransfer,
  namedMovement,
  noAnswer,
  notBelieved,
  observedUsdc,
  type TransferVerifier,
  type UsdcMovement,
} from './transfer-verifier.ts';

export interface BaseVerifierParts {
  readonly chain: Pick<BaseChain, 'chainId' | 'receipts' | 'block'>;
  /** Minimum number of confirmations; the transfer's own block counts as the first. */
  readonly confirmations_min: number;
}

/**
 * Verifies USDC transfers on Base by their Transfer events. The payer is the wallet whose balance decreased, for any sender of the
 * transaction. A node is trusted if its records agree with each other.
 */
export function openBaseTransferVerifier(parts: BaseVerifierParts): TransferVerifier {
  return {
    observe: named => observe(parts, named),
    standing: (transfer, seen_in) => standing(parts, transfer, seen_in),
  };
}

/**
 * A transaction, and the blocks of the current chain with which it is compared. The receipt is null if the transaction is in no
 * block.
 */
interface TransactionLook {
  readonly latest: ChainBlock;
  readonly finalized: ChainBlock | null;
  readonly receipt: ChainReceipt | null;
}

async function observe({ chain, confirmations_min }: BaseVerifierParts, named: NamedTransfer): Promise<Observation> {
  const look = await lookUp(chain, named.transaction);
  if (look.kind !== 'ok') return noAnswer(look.cause);
  const { receipt, latest, finalized } = look.value;
  if (receipt === null) return notBelieved('not_found');
  if (!receipt.succeeded) return notBelieved('reverted');
  const [payer, pay_to] = [named.payer?.toLowerCase() ?? null, named.pay_to.toLowerCase()];
  const meant = namedMovement(movementsOf(receipt), { ...named, payer, pay_to });
  if (meant.kind !== 'one') return meant;
  if (latest.number - receipt.block_number + 1 < confirmations_min) return notBelieved('not_confirmed');
  const { block_number, block_hash } = receipt;
  const final = finalized !== null && finalized.number >= block_number;
  return {
    kind: 'observed',
    transfer: observedTransfer(receipt, meant.transfer),
    seen_in: { block_number, block_hash, final },
  };
}

function observedTransfer({ tx_hash }: ChainReceipt, { payer, pay_to, ...moved }: UsdcMovement): ObservedTransfer {
  return observedUsdc('base', tx_hash, {
    ...moved,
    payer: checksummedAddress(payer),
    pay_to: checksummedAddress(pay_to),
  });
}

/** Makes two rounds of requests: first for the transaction, then to check that the chain has its block at that height. */
async function lookUp(chain: BaseVerifierParts['chain'], transaction: string): Promise<ChainAnswer<TransactionLook>> {
  const hash = transaction.toLowerCase() as Hex;
  const [id, [receipt], latest, finalized] = await Promise.all([
    chain.chainId(),
    chain.receipts([hash]),
    chain.block('latest'),
    chain.block('finalized'),
  ]);
  if (id.kind !== 'ok') return id;
  if (id.value !== networks.base.chain_id) return contradiction('the node belongs to another chain');
  if (receipt?.kind !== 'ok') return receipt ?? contradiction('the response of the node has no receipt');
  if (latest.kind !== 'ok') return latest;
  if (finalized.kind !== 'ok') return finalized;
  if (latest.value === null) return contradiction('the node has no latest block');
  const look = { latest: latest.value, finalized: finalized.value, receipt: receipt.value };
  if (look.receipt === null) return { kind: 'ok', value: look };
  if (!hangsTogether(look.receipt)) return contradiction('the receipt contradicts itself');
  const block = await chain.block(look.receipt.block_number);
  if (block.kind !== 'ok') return block;
  const same = block.value?.number === look.receipt.block_number && block.value.hash === look.receipt.block_hash;
  return same ? { kind: 'ok', value: look } : contradiction('the receipt names a block that is not on the chain');
}

/** Whether all logs are of this transaction and block and have distinct indexes. */
function hangsTogether({ tx_hash, block_number, block_hash, succeeded, logs }: ChainReceipt): boolean {
  const indexes = new Set(logs.map(({ log_index }) => log_index));
  if (indexes.size !== logs.length || (!succeeded && logs.length > 0)) return false;
  return logs.every(
    log => log.tx_hash === tx_hash && log.block_number === block_number && log.block_hash === block_hash,
  );
}

/** Addresses are in lower case, because a checksum needs a hash and a transaction may have thousands of transfers. */
function movementsOf({ logs }: ChainReceipt): UsdcMovement[] {
  const transfers = logs.map(readTransfer).filter(transfer => transfer !== null);
  return transfers.map(({ log_index: index, from: payer, to: pay_to, amount_atomic }) => ({
    index,
    payer,
    pay_to,
    amount_atomic,
  }));
}

/**
 * State of a transfer. It has vanished if the final chain has another block at its height and, long afterwards, no such transfer. A
 * node that merely does not have the transfer proves nothing.
 */
async function standing(
  { chain }: BaseVerifierParts,
  transfer: ObservedTransfer,
  seen_in: ChainPosition,
): Promise<TransferStanding> {
  const look = await lookUp(chain, transfer.transaction);
  if (look.kind !== 'ok' || look.value.finalized === null) return { kind: 'unknown' };
  const { receipt, finalized } = look.value;
  if (receipt === null) return absent(chain, finalized, seen_in);
  const { block_number, block_hash } = receipt;
  if (block_number > finalized.number) return { kind: 'pending', seen_in: { block_number, block_hash, final: false } };
  const stands = movementsOf(receipt).some(moved => isSameTransfer(observedTransfer(receipt, moved), transfer));
  return { kind: stands ? 'final' : 'vanished' };
}

async function absent(
  chain: BaseVerifierParts['chain'],
  finalized: ChainBlock,
  seen_in: ChainPosition,
): Promise<TransferStanding> {
  const { block_number, block_hash } = seen_in;
  if (block_number === null || block_hash === null) return { kind: 'unknown' };
  if (finalized.number < block_number + limits.foreign_vanished_blocks_min) return { kind: 'pending', seen_in };
  const there = await chain.block(block_number);
  if (there.kind !== 'ok' || there.value === null) return { kind: 'unknown' };
  return there.value.hash === block_hash ? { kind: 'unknown' } : { kind: 'vanished' };
}
