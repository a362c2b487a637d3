import type { NetworkName } from './network.ts';
import type { DocumentOf } from './noun.ts';
import type { TransferFactsNoun } from './receipt-shapes.ts';

/** Networks on which a payment to somebody else may have been made. */
export type ForeignNetwork = NetworkName | 'nano';

/** What moved: USDC, in atomic units of 6 decimals, or XNO, in raw of 30. */
export type ForeignRail = 'usdc' | 'xno';

/**
 * A transfer that was looked up on its chain, as the chain has it. With its network, transaction and index it is one
 * transfer and no other: `index` is the log's index inside its block on Base, the instruction's inside its transaction on
 * Solana (those inside another's are counted behind it, in the order in which they ran), and null on Nano, where a block is
 * one transfer. A transaction is a 0x-hash in lower case, Solana's signature, or Nano's block hash in upper case. Addresses are in the
 * chain's own spelling, EIP-55 on Base.
 */
export type ObservedTransfer = DocumentOf<typeof TransferFactsNoun> & {
  readonly network: ForeignNetwork;
  readonly rail: ForeignRail;
};

/** `base:0x…`: what a row and its receipt call the payment. */
export function foreignRef({ network, transaction }: Pick<ObservedTransfer, 'network' | 'transaction'>): string {
  return `${network}:${transaction}`;
}

/** Names this transfer and no other, of whomever and wherever it is used. */
export function transferSlot({
  network,
  transaction,
  index,
}: Pick<ObservedTransfer, 'network' | 'transaction' | 'index'>): string {
  return `transfer:${network}:${transaction}:${index ?? ''}`;
}
