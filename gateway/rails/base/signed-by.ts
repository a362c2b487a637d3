import { hashMessage } from 'viem';
import { limits } from '../../../schema/limits.ts';
import type { Rail } from '../rail.ts';
import type { Hex } from './abi.ts';
import { signatureOf } from './signature.ts';

const BYTES = /^0x(?:[0-9a-fA-F]{2})+$/;

/**
 * Whether a wallet has signed a text (EIP-191). A key's signature is recovered here; only what is none asks the wallet's
 * code (ERC-1271), in the asker's line: whoever forges signatures keeps neither the payer nor anybody else waiting.
 */
export const signedBy: Rail['signedBy'] = async (till, { payer, text, signature, asker }) => {
  if (!BYTES.test(signature) || signature.length > limits.wallet_signature_chars_max) return false;
  const digest = hashMessage(text, 'bytes');
  if (signatureOf(payer as Hex, digest, signature as Hex).kind === 'ecdsa') return true;
  const asked = await till.searches.take(asker, async () => ({
    verdict: await till.wallets.verifies(payer, digest, signature, asker),
  }));
  return asked?.verdict === 'valid';
};
