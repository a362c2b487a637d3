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

/**
 * The same for what nobody pays for: one address may ask so often about signatures that are nobody's, however many wallets
 * are looked at for each. @throws rate_limited
 */
export interface FreeWalletProofs extends Pick<WalletProofs, 'verifies'> {}
