import { hash, timingSafeEqual } from 'node:crypto';
import { createKeccak } from 'hash-wasm';

/* SHA-256 of bytes and of canonical JSON, Ethereum's keccak-256, and comparing two secrets in constant time. */

/** Reads the digest from hex: for a digest as a Buffer, Node allocates memory, which takes as long as the digest itself. */
export function sha256(data: Uint8Array | string): Buffer {
  return Buffer.from(hash('sha256', data), 'hex');
}

/** Lower-case hex without a prefix, as every hash on our wire. */
export function sha256Hex(data: Uint8Array | string): string {
  return hash('sha256', data);
}

/** One for all: nothing is awaited between its steps. */
const keccak = await createKeccak(256);

/** Ethereum's, which came before SHA-3 and pads otherwise, so OpenSSL lacks it. In WebAssembly: a sixth of the time. */
export function keccak256(data: Uint8Array): Uint8Array {
  return keccak.init().update(data).digest('binary');
}

/** Constant time in the content of both; compares digests, so that lengths leak nothing either. */
export function sameSecret(a: string, b: string): boolean {
  return timingSafeEqual(sha256(a), sha256(b));
}
