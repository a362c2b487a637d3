import { verify } from 'node:crypto';
import { decodedBase58 } from '../../../../schema/base58.ts';
import type { Json } from '../../../../schema/canonical-json.ts';
import { recoverAddress } from '../../../../schema/secp256k1.ts';
import { addressOfPublicKey, isSignatureOfKey } from '../../../../schema/session/public-key.ts';
import { publicKey } from '../signature.ts';
import type { Check } from '../signed-document.ts';

/* Finds the key that made a wallet's signature. Whether a contract accepts a signature can only be checked on its chain (ERC-1271). */

/** The signature of a single key: r, s and v, in any spelling. */
const BY_KEY = /^0x([0-9a-f]{128})(1b|1c|00|01)$/i;

/** The address of the key that signed a digest; null if the signature has another form. */
export function keyThatSigned(digest: Uint8Array, signature: string): string | null {
  const [, compact = '', v = ''] = BY_KEY.exec(signature) ?? [];
  if (compact === '') return null;
  return recoverAddress(digest, Buffer.from(compact, 'hex'), Number.parseInt(v, 16) % 27);
}

/** The fault of a signature that is claimed for an address; null if the key of that address made it. */
export function signerFault(digest: Uint8Array, signature: string, address: string): Check | null {
  if (BY_KEY.test(signature) && isSignatureOfKey(address, digest, signature)) return null;
  const by = keyThatSigned(digest, signature);
  return {
    code: 'needs_chain',
    sentence: `The key of ${address} did not make this signature. ${by === null ? 'It is not the signature of a single key.' : `The key of ${by} did.`} If ${address} is a contract, only the contract can say whether it accepts the signature (ERC-1271 on Base). If it is not, the signature is invalid.`,
  };
}

/** The fault of a document that names no signer. */
export function namelessFault(digest: Uint8Array, signature: string): Check {
  const by = keyThatSigned(digest, signature);
  const sentence =
    by === null
      ? 'The document does not name its signer, and a single key did not make the signature: add the address of the signer as `signer`.'
      : `The document does not name its signer: if nothing was altered, the key of ${by} made the signature. Add the address of the signer as \`signer\`.`;
  return { code: 'needs_signer', sentence };
}

/** The address in a text that is an address or a public key of secp256k1; null for any other text. */
export function addressNamed(text: Json | undefined): string | null {
  if (typeof text !== 'string') return null;
  if (/^0x[0-9a-f]{40}$/i.test(text)) return text;
  return /^0x(0[23][0-9a-f]{64}|04[0-9a-f]{128})$/i.test(text) ? addressOfPublicKey(text) : null;
}

/** Whether the key of a Solana address signed a text (Ed25519). Address and signature are in base58. */
export function isSignedOnSolana(text: string, signature: string, address: string): boolean {
  const [key, value] = [decodedBase58(address), decodedBase58(signature)];
  if (key?.length !== 32 || value?.length !== 64) return false;
  try {
    const x = Buffer.from(key).toString('base64url');
    return verify(null, Buffer.from(text), publicKey({ kty: 'OKP', crv: 'Ed25519', x }), value);
  } catch {
    return false;
  }
}

export const isSolanaAddress = (text: string): boolean => decodedBase58(text)?.length === 32;
