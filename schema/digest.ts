import { hash, timingSafeEqual } from 'node:crypto';
import { createKeccak } from 'hash-wasm';

/* SHA-256 of bytes and of canonical JSON, keccak-256, and comparison of secrets in constant time. */

/** Reads the digest from hex: for a digest as a Buffer, Node allocates memory, which takes as long as the digest itself. */
export function sha256(data: Uint8Array | string): Buffer {
  return Buffer.from(hash('sha256', data), 'hex');
}

/** Lower-case hex without a prefix, as all hashes on the wire. */
export function sha256Hex(data: Uint8Array | string): string {
  return hash('sha256', data);
}

/** One shared instance is safe, because its steps are synchronous. */
const keccak = await createKeccak(256);

/** keccak-256 of Ethereum has other padding than SHA-3, so OpenSSL lacks it. WebAssembly takes a sixth of the time. */
export function keccak256(data: Uint8Array): Uint8Array {
  return keccak.init().update(data).digest('binary');
}

/** Takes the same time for any content. It compares digests, so that lengths do not leak either. */
export function sameSecret(a: string, b: string): boolean {
  return timingSafeEqual(sha256(a), sha256(b));
}
