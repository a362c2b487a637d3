import { hashMessage } from 'viem';
import { limits } from '../../../schema/limits.ts';
import type { Rail } from '../rail.ts';
import type { Hex } from './abi.ts';
import { signatureOf } from './signature.ts';

const BYTES = /^0x(?:[0-9a-fA-F]{2})+$/;

/**
 * Whether a wallet has signed a text (EIP-191). A key's signature is recovered here; only what is none asks the wallet's
 * code (ERC-1271), in turn with all else that makes the chain work for one caller.
 */
export const signedBy: Rail['signedBy'] = async (till, payer, text, signature) => {
  if (!BYTES.test(signature) || signature.length > limits.wallet_signature_chars_max) return false;
  const digest = hashMessage(text, 'bytes');
  if (signatureOf(payer as Hex, digest, signature as Hex).kind === 'ecdsa') return true;
  const asked = await till.searches.take(async () => ({
    verdict: await till.wallets.verifies(payer, digest, signature, payer),
  }));
  return asked?.verdict === 'valid';
};
