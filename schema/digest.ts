import { createHash, timingSafeEqual } from 'node:crypto';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { canonicalJson, type Json } from './canonical-json.ts';

export function sha256(data: Uint8Array | string): Buffer {
  return createHash('sha256').update(data).digest();
}

/** Lower-case hex without a prefix, as every hash on our wire. */
export function sha256Hex(data: Uint8Array | string): string {
  return createHash('sha256').update(data).digest('hex');
}

/** SHA-256 of the canonical form: the `payload_hash`, `row_hash` and request binding of this service. */
export function canonicalHash(value: Json): string {
  return sha256Hex(canonicalJson(value));
}

export function keccak256(data: Uint8Array): Uint8Array {
  return keccak_256(data);
}

/** Constant time in the content of both; compares digests, so that lengths leak nothing either. */
export function sameSecret(a: string, b: string): boolean {
  return timingSafeEqual(sha256(a), sha256(b));
}
