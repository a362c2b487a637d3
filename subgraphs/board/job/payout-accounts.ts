import type { NetworkName } from '../../../schema/network.ts';

/** `unserved`: nobody is configured who could be asked; `unreachable`: nothing is known now. */
export type PayoutAccount = 'stands' | 'missing' | 'unserved' | 'unreachable';

/** Whether somebody can be paid USDC: a transfer makes no account on Solana. Never throws. */
export interface PayoutAccounts {
  look(network: NetworkName, address: string): Promise<PayoutAccount>;
}
