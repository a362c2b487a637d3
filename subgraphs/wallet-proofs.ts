/** Wallets as witnesses: who can sign for an address, only the chain can say. */
export interface WalletProofs {
  /**
   * Whether `signature` over `digest` is that wallet's: its key's where no code stands at the address, or else by the
   * word of its code (ERC-1271), also of code that is still to be deployed (ERC-6492). `asker`: the address that the
   * request came from; code is asked in turns, in which no asker pushes another aside. Never throws.
   */
  verifies(wallet: string, digest: Uint8Array, signature: string, asker: string): Promise<WalletVerdict>;
}

/** `unreachable`: the chain could not be asked; `no_turn`: too many want to ask it. Nothing is known then. */
export type WalletVerdict = 'valid' | 'invalid' | 'unreachable' | 'no_turn';

/** The same for what nobody pays for: one address may ask so often about wallets that have not signed. */
export interface FreeWalletProofs {
  /**
   * `digests`: of one word, under each name that this service has or had. The one that the wallet's key has signed is asked about
   * alone; where there is none its code is asked about each, and all of them count once. @throws rate_limited
   */
  verifies(wallet: string, digests: readonly Uint8Array[], signature: string, asker: string): Promise<WalletVerdict>;
}
