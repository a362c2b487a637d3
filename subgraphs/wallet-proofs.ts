/** Verifies signatures of wallets: only the chain knows who can sign for an address. */
export interface WalletProofs {
  /**
   * Whether `signature` over `digest` is that wallet's: by its key if the address has no code, else by its contract
   * (ERC-1271), also if it is not deployed yet (ERC-6492). `asker`: address of the request; contracts are called in
   * turns per asker. Never throws.
   */
  verifies(wallet: string, digest: Uint8Array, signature: string, asker: string): Promise<WalletVerdict>;
}

/**
 * `unreachable`: the chain could not be read. `no_turn`: too many requests wait for it. The result is unknown in both
 * cases.
 */
export type WalletVerdict = 'valid' | 'invalid' | 'unreachable' | 'no_turn';

/** The same for unpaid requests, with a limit per address on wallets that have not signed. */
export interface FreeWalletProofs {
  /**
   * `digests`: of one text, under each name that this service has or had. If the wallet's key signed one, only that one
   * is checked; otherwise its contract is called for each, counted once. @throws rate_limited
   */
  verifies(wallet: string, digests: readonly Uint8Array[], signature: string, asker: string): Promise<WalletVerdict>;
}
