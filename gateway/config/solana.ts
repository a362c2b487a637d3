import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import { getBase58Decoder, getBase58Encoder } from '@solana/codecs-strings';
import { z } from 'zod';

/* Variables of Solana: addresses and keys. */

/** Settings that payments on Solana need. */
export interface SolanaConfig {
  readonly rpc_url: string;
  /** Address of the treasury, the owner of the USDC account that is paid. */
  readonly pay_to: string;
  /** Key as base58 of 64 bytes; null if a facilitator settles, which uses another fee payer. */
  readonly fee_payer_key: string | null;
}

const SEED_BYTES = 32;
const KEY_BYTES = 64;
/** DER encoding of an Ed25519 private key up to its 32 bytes (RFC 8410 section 7). */
const PKCS8_HEAD = Buffer.from('302e020100300506032b657004220420', 'hex');

/** Schema of the address of a wallet or token account: 32 bytes in base58. */
export function solanaAddress() {
  return z
    .string()
    .meta({ form: 'address' })
    .refine(text => bytesOf(text)?.length === SEED_BYTES, 'not a Solana address');
}

/**
 * Schema of a key of 64 bytes, seed and public key: base58 as wallets export it, or the JSON array of solana-keygen. The value is
 * base58.
 */
export function solanaKey() {
  return z
    .string()
    .meta({ form: '64 bytes: base58, or the JSON array of solana-keygen' })
    .transform((text, context) => {
      const bytes = /^\s*\[/.test(text) ? arrayOf(text) : bytesOf(text);
      const problem = bytes === null || bytes.length !== KEY_BYTES ? 'not 64 bytes in base58 or as a JSON array' : null;
      if (bytes !== null && problem === null && matches(bytes)) return getBase58Decoder().decode(bytes);
      context.addIssue({ code: 'custom', message: problem ?? 'the public key does not belong to the seed' });
      return z.NEVER;
    });
}

/** The public key of an Ed25519 seed. */
export function publicKeyOf(seed: Uint8Array): Buffer {
  return createPublicKey(secretOf(seed)).export({ format: 'der', type: 'spki' }).subarray(-SEED_BYTES);
}

/** Private key of a key in the form of `solanaKey`. */
export function secretOfKey(key: string): KeyObject {
  return secretOf(getBase58Encoder().encode(key).slice(0, SEED_BYTES));
}

function secretOf(seed: Uint8Array): KeyObject {
  return createPrivateKey({ key: Buffer.concat([PKCS8_HEAD, seed]), format: 'der', type: 'pkcs8' });
}

/** Address of an Ed25519 seed in hex. */
export function addressOfSeed(seed: string): string {
  return getBase58Decoder().decode(publicKeyOf(Buffer.from(seed, 'hex')));
}

/** Address of a key in the form of `solanaKey`. */
export function solanaAddressOfKey(key: string): string {
  return getBase58Decoder().decode(getBase58Encoder().encode(key).slice(SEED_BYTES));
}

function matches(key: Uint8Array): boolean {
  return publicKeyOf(key.subarray(0, SEED_BYTES)).equals(key.subarray(SEED_BYTES));
}

function bytesOf(text: string): Uint8Array | null {
  try {
    return Uint8Array.from(getBase58Encoder().encode(text));
  } catch {
    return null;
  }
}

function arrayOf(text: string): Uint8Array | null {
  const bytes = z.array(z.int().min(0).max(255)).safeParse(jsonOrNull(text));
  return bytes.success ? Uint8Array.from(bytes.data) : null;
}

function jsonOrNull(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
