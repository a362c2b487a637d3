import type { NetworkName } from './network.ts';
import type { DocumentOf } from './noun.ts';
import type { TransferFactsNoun } from './receipt-shapes.ts';

/** Networks of payments to others. */
export type ForeignNetwork = NetworkName | 'nano';

/** Token that moved: USDC in atomic units (6 decimals), or XNO in raw (30 decimals). */
export type ForeignRail = 'usdc' | 'xno';

/**
 * A transfer as its chain shows it. Network, transaction and index identify it. `index` is the log index within its block on Base,
 * the index of the instruction within its transaction on Solana (inner instructions follow their outer one, in order of execution),
 * and null on Nano, where a block is one transfer. A transaction is a lower-case 0x hash, a Solana signature, or an upper-case Nano
 * block hash. Addresses are in the spelling of the chain, EIP-55 on Base.
 */
export type ObservedTransfer = DocumentOf<typeof TransferFactsNoun> & {
  readonly network: ForeignNetwork;
  readonly rail: ForeignRail;
};

/** Payment reference in rows and receipts, such as `base:0x…`. */
export function foreignRef({ network, transaction }: Pick<ObservedTransfer, 'network' | 'transaction'>): string {
  return `${network}:${transaction}`;
}

/** Unique name of this transfer, the same for every use of it. */
export function transferSlot({
  network,
  transaction,
  index,
}: Pick<ObservedTransfer, 'network' | 'transaction' | 'index'>): string {
  return `transfer:${network}:${transaction}:${index ?? ''}`;
}
