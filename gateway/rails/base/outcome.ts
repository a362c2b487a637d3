import type { Transferred } from '../outcome.ts';
import type { Authorization } from './authorization.ts';
import type { ChainReceipt } from './base-shapes.ts';
import { isUseOf, readTransfer, type Transfer } from './usdc.ts';

/**
 * The Transfer that this authorization made in a transaction; null where it made none. A receipt's status proves
 * nothing: USDC's AuthorizationUsed must stand there, and the transfer that follows it must be the authorized one.
 */
export function transferOf(receipt: ChainReceipt, authorization: Authorization): Transfer | null {
  const transfer = transferByNonce(receipt, authorization);
  return transfer && isAuthorized(transfer, authorization) ? transfer : null;
}

/** Whether the payer's nonce was spent there on a transfer to another payee or of another amount. */
export function usedOtherwise(receipt: ChainReceipt, authorization: Authorization): boolean {
  const transfer = transferByNonce(receipt, authorization);
  return transfer !== null && !isAuthorized(transfer, authorization);
}

function transferByNonce({ succeeded, logs }: ChainReceipt, authorization: Authorization): Transfer | null {
  const use = logs.findIndex(log => isUseOf(log, authorization));
  if (!succeeded || use < 0) return null;
  for (const log of logs.slice(use + 1)) {
    const transfer = readTransfer(log);
    if (transfer) return transfer;
  }
  return null;
}

function isAuthorized({ from, to, amount_atomic }: Transfer, authorization: Authorization): boolean {
  const { payer, pay_to } = authorization;
  return from === payer.toLowerCase() && to === pay_to.toLowerCase() && amount_atomic === authorization.amount_atomic;
}

export function transferred(
  receipt: ChainReceipt,
  authorization: Authorization,
  by: Transferred['by'],
): Transferred | null {
  const transfer = transferOf(receipt, authorization);
  if (transfer === null) return null;
  const { tx_hash, block_number, block_hash } = receipt;
  return { kind: 'transferred', tx_hash, block_number, block_hash, transfer_index: transfer.log_index, by };
}
