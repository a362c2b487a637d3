import type { NetworkName } from '../../../schema/network.ts';

/** `unserved`: no node is configured. `unreachable`: unknown for now. */
export type PayoutAccount = 'stands' | 'missing' | 'unserved' | 'unreachable';

/** Whether a wallet can receive USDC: on Solana a transfer does not create the account. Never throws. */
export interface PayoutAccounts {
  look(network: NetworkName, address: string): Promise<PayoutAccount>;
}
