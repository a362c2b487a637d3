import type { Port } from '../../rest-compat/port.ts';
import { Refusal } from '../../schema/errors.ts';
import { isKeysSignature } from '../../schema/session/public-key.ts';
import { signedHere } from '../../subgraphs/signed-here.ts';
import type { FreeWalletProofs, WalletProofs } from '../../subgraphs/wallet-proofs.ts';

/**
 * A turn is spent before the chain is asked, and given back unless the answer is that nobody has signed: one of the address, or of
 * the wallet itself where its own key has signed, so that wrong ones of a neighbour keep nobody from ending a session.
 */
export function openFreeWallets(
  wallets: WalletProofs,
  rates: Pick<Port['rates'], 'take' | 'giveBack'>,
): FreeWalletProofs {
  return {
    async verifies(wallet, digests, signature, asker) {
      const own = digests.find(digest => isKeysSignature(wallet, digest, signature));
      const holder = own ? wallet : asker;
      const turn = rates.take('unproven', holder);
      if (turn.kind === 'beyond')
        throw new Refusal('rate_limited', { facts: { retry_after_seconds: turn.retry_after_seconds } });
      const verdict = await signedHere(own ? [own] : digests, it => wallets.verifies(wallet, it, signature, asker));
      if (verdict !== 'invalid') rates.giveBack('unproven', holder);
      return verdict;
    },
  };
}
