import type { Context } from '../context.ts';
import type { Selling } from '../selling.ts';
import type { WalletProofs } from '../wallet-proofs.ts';

/** What the session subgraph needs of the process beyond every subgraph's needs. */
export interface SessionContext extends Context, Selling {
  readonly wallets: WalletProofs;
}
