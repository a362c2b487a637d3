import {
  type Address,
  getBase58Encoder,
  getPublicKeyFromAddress,
  type SignatureBytes,
  verifySignature,
} from '@solana/kit';
import type { Rail } from '../rail.ts';

const SIGNATURE_BYTES = 64;

/** Whether a wallet has signed a text: Ed25519 over its UTF-8 bytes, in base58. A program's address signs nothing. */
export const signedBy: Rail['signedBy'] = async (_till, { payer, text, signature }) => {
  try {
    const bytes = getBase58Encoder().encode(signature);
    if (bytes.length !== SIGNATURE_BYTES) return false;
    const key = await getPublicKeyFromAddress(payer as Address);
    return await verifySignature(key, bytes as SignatureBytes, Buffer.from(text));
  } catch {
    // No base58, or an address that is no key's.
    return false;
  }
};
