import type { Context } from '../context.ts';

/** Wallets as witnesses: who can sign for an address, only the chain can say. */
export interface WalletProofs {
  /**
   * Whether `signature` over `digest` is that wallet's: its key's where no code stands at the address, or else by the
   * word of its code (ERC-1271), also of code that is still to be deployed (ERC-6492). Never throws.
   */
  verifies(wallet: string, digest: Uint8Array, signature: string): Promise<WalletVerdict>;
}

/** `unreachable`: the chain could not be asked, and nothing is known. */
export type WalletVerdict = 'valid' | 'invalid' | 'unreachable';

/** What the session subgraph needs of the process beyond every subgraph's needs. */
export interface SessionContext extends Context {
  readonly wallets: WalletProofs;
}
