/** Verifies signatures of wallets. This needs the chain, because only the chain shows who can sign for an address. */
export interface WalletProofs {
  /**
   * Whether the wallet made `signature` over `digest`: with its key if the address has no code, otherwise by its contract (ERC-1271), which
   * may not be deployed yet (ERC-6492). `asker`: address of the request; askers take turns in calling contracts. Never throws.
   */
  verifies(wallet: string, digest: Uint8Array, signature: string, asker: string): Promise<WalletVerdict>;
}

/** `unreachable`: the chain could not be read. `no_turn`: too many requests wait for the chain. The result is unknown in both cases. */
export type WalletVerdict = 'valid' | 'invalid' | 'unreachable' | 'no_turn';

/** Like `WalletProofs`, for unpaid requests. The number of invalid signatures is limited for each address. */
export interface FreeWalletProofs {
  /**
   * `digests` are those of one text under each current or former name of this service. If the wallet's key signed one of them, only that
   * one is checked. Otherwise the wallet's contract is called for each digest, and all of them count as one attempt. @throws rate_limited
   */
  verifies(wallet: string, digests: readonly Uint8Array[], signature: string, asker: string): Promise<WalletVerdict>;
}
