import type { Port } from '../../rest-compat/port.ts';
import { Refusal } from '../../schema/errors.ts';
import { isKeysSignature } from '../../schema/session/public-key.ts';
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
    async verifies(wallet, digest, signature, asker) {
      const holder = isKeysSignature(wallet, digest, signature) ? wallet : asker;
      const turn = rates.take('unproven', holder);
      if (turn.kind === 'beyond')
        throw new Refusal('rate_limited', { facts: { retry_after_seconds: turn.retry_after_seconds } });
      const verdict = await wallets.verifies(wallet, digest, signature, asker);
      if (verdict !== 'invalid') rates.giveBack('unproven', holder);
      return verdict;
    },
  };
}
