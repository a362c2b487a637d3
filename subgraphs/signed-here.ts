import { eip191Hash } from '../schema/secp256k1.ts';
import { isKeysSignature } from '../schema/session/public-key.ts';
import type { WalletVerdict } from './wallet-proofs.ts';

/**
 * Whether something was signed for this service: asked under what names it now, and, where it is nobody's under that, under what
 * named it before. What could not be asked is not known under any.
 */
export async function signedHere<N>(
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
 * The same of a text as it reads under each name. One that the key of a wallet of Base has signed is asked about alone: it waits
 * in no line for what the wallet's code says of the others.
 */
export async function textSignedHere(
  texts: readonly string[],
  { network, payer, signature }: { readonly network: string; readonly payer: string; readonly signature: string },
  asked: (text: string) => Promise<WalletVerdict>,
): Promise<WalletVerdict> {
  const may_be_keys = network === 'base' && KEYS_SIGNATURE.test(signature);
  const own = may_be_keys ? texts.find(text => isKeysSignature(payer, eip191Hash(text), signature)) : undefined;
  return signedHere(own === undefined ? texts : [own], asked);
}
