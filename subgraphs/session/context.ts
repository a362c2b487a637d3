import type { Context } from '../context.ts';
import type { Selling } from '../selling.ts';
import type { FreeWalletProofs, WalletProofs } from '../wallet-proofs.ts';
import type { HandOffs } from './delegation/hand-offs.ts';

/** What the session subgraph needs of the process beyond every subgraph's needs. */
export interface SessionContext extends Context, Selling {
  readonly wallets: WalletProofs;
  readonly free_wallets: FreeWalletProofs;
  readonly hand_offs: HandOffs;
}
