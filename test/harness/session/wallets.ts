import { openWalletProofs } from '../../../gateway/rails/base/wallets.ts';
import { type WalletProofs, type WalletVerdict } from '../../../subgraphs/wallet-proofs.ts';

export interface RecordingWallets extends WalletProofs {
  /** Signatures that the code under test verified, in order. */
  readonly calls: { readonly wallet: string; readonly digest: Uint8Array; readonly signature: string }[];
}

/** Wallets on a chain without contracts, where only the signature of the wallet's key is valid. */
export const keyWallets: WalletProofs = openWalletProofs({
  code: async () => ({ kind: 'ok', value: '0x' }),
  simulate: async () => ({ kind: 'ok', value: null }),
});

/** Wallets that give this verdict on every signature. */
export function walletsAnswering(verdict: WalletVerdict): RecordingWallets {
  const asked: RecordingWallets['calls'] = [];
  return {
    calls: asked,
    async verifies(wallet, digest, signature) {
      asked.push({ wallet, digest, signature });
      return verdict;
    },
  };
}
