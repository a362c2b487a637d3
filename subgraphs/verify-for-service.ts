import { eip191Hash } from '../schema/secp256k1.ts';
import { isSignatureOfKey } from '../schema/session/public-key.ts';
import type { WalletVerdict } from './wallet-proofs.ts';

/**
 * Whether something was signed for this service, under one of its current or former names. Names are tried in order. The first verdict
 * other than `invalid` is returned, even if it is that the name could not be checked.
 */
export async function verifyForService<N>(
  names: readonly N[],
  asked: (name: N) => Promise<WalletVerdict>,
): Promise<WalletVerdict> {
  for (const name of names) {
    const verdict = await asked(name);
    if (verdict !== 'invalid') return verdict;
  }
  return 'invalid';
}

const KEYS_SIGNATURE = /^0x[0-9a-fA-F]{130}$/;

/**
 * Like `verifyForService`, for a text that contains the name: `texts` has one version for each name. If the key of a Base wallet signed one
 * of them, only that one is checked, so that the wallet's contract is not called for the others.
 */
export async function verifyTextForService(
  texts: readonly string[],
  { network, payer, signature }: { readonly network: string; readonly payer: string; readonly signature: string },
  asked: (text: string) => Promise<WalletVerdict>,
): Promise<WalletVerdict> {
  const may_be_keys = network === 'base' && KEYS_SIGNATURE.test(signature);
  const own = may_be_keys ? texts.find(text => isSignatureOfKey(payer, eip191Hash(text), signature)) : undefined;
  return verifyForService(own === undefined ? texts : [own], asked);
}
