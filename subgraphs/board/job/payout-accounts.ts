import type { NetworkName } from '../../../schema/network.ts';

/**
 * Whether a wallet can receive USDC. `unserved`: no node is configured for the network. `unreachable`: the node does not answer, so it is
 * unknown for now.
 */
export type PayoutAccount = 'stands' | 'missing' | 'unserved' | 'unreachable';

/** Checks whether a wallet can receive USDC. On Solana a transfer does not create the account of the payee. Never throws. */
export interface PayoutAccounts {
  look(network: NetworkName, address: string): Promise<PayoutAccount>;
}
