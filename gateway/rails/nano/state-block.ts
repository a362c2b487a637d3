import { twistedEdwards } from '@noble/curves/abstract/edwards';
import { ed25519 } from '@noble/curves/ed25519';
import { blake2b } from '@noble/hashes/blake2';

/*
 * Nano's state blocks: hashes, signatures and work are recomputed from a node's data. Payments in XNO are not accepted; this serves
 * look-ups of payments to others (../foreign/).
 */

// A Nano address: `nano_`, the public key in 52 digits of base 32, and 8 more of its checksum.
const DIGITS = '13456789abcdefghijkmnopqrstuwxyz';
const ADDRESS = /^(?:nano|xrb)_([13][13456789abcdefghijkmnopqrstuwxyz]{51})([13456789abcdefghijkmnopqrstuwxyz]{8})$/;
const KEY_BYTES = 32;
const CHECKSUM_BYTES = 5;
const DIGIT_BITS = 5n;

/**
 * The public key of an address with the prefix `nano_` or the old `xrb_`; null if the address is invalid or its checksum is wrong.
 */
export function keyOfNanoAddress(address: string): Buffer | null {
  const [, digits, checksum] = ADDRESS.exec(address) ?? [];
  if (digits === undefined || checksum === undefined) return null;
  // The 52 digits have 260 bits. The first four are not part of the key and must be zero, so the first digit is `1` or `3`.
  const key = bytesOf(digits, KEY_BYTES);
  return checksumOf(key) === checksum ? key : null;
}

/** @param key of 32 bytes */
export function nanoAddressOf(key: Uint8Array): string {
  return `nano_${digitsOf(key, 52)}${checksumOf(key)}`;
}

function checksumOf(key: Uint8Array): string {
  return digitsOf(blake2b(key, { dkLen: CHECKSUM_BYTES }).reverse(), 8);
}

function bytesOf(digits: string, length: number): Buffer {
  let value = 0n;
  for (const digit of digits) value = (value << DIGIT_BITS) | BigInt(DIGITS.indexOf(digit));
  return Buffer.from(value.toString(16).padStart(2 * length, '0'), 'hex');
}

function digitsOf(bytes: Uint8Array, length: number): string {
  let value = BigInt(`0x${Buffer.from(bytes).toString('hex')}`);
  let digits = '';
  for (let at = 0; at < length; at++) {
    digits = DIGITS.charAt(Number(value & 31n)) + digits;
    value >>= DIGIT_BITS;
  }
  return digits;
}

// Nano signs by Ed25519 (RFC 8032), with BLAKE2b-512 instead of SHA-512.
const curve = twistedEdwards({ ...ed25519.CURVE, hash: blake2b });
const SIGNATURE = /^[0-9a-fA-F]{128}$/;

/** @param signature 128 hex digits; anything else is invalid */
export function isSignedOnNano(key: Uint8Array, digest: Uint8Array, signature: string): boolean {
  if (!SIGNATURE.test(signature)) return false;
  try {
    // Verification is strictly by RFC 8032, so that a key or a point has only one encoding.
    return curve.verify(Buffer.from(signature, 'hex'), digest, key, { zip215: false });
  } catch {
    // The curve throws if a key or a point is invalid.
    return false;
  }
}

/**
 * Whether the key signed a text as Nano's wallets sign it (`tools.sign` of nanocurrency-web), by its BLAKE2b-256. That digest
 * cannot be a block's hash, whose input begins with 31 zero bytes.
 */
export function isTextSignedOnNano(key: Uint8Array, text: string, signature: string): boolean {
  return isSignedOnNano(key, blake2b(Buffer.from(text), { dkLen: 32 }), signature);
}

/** A state block as a node returns it: the hashed members, the signature and the work. */
export interface StateBlock {
  readonly account: string;
  /** 64 hex digits, like `link`. */
  readonly previous: string;
  readonly representative: string;
  /** Balance of the account after this block, in raw. */
  readonly balance: bigint;
  readonly link: string;
  readonly signature: string;
  /** 16 hex digits. */
  readonly work: string;
}

/** First input of a state block's hash: the number 6 in 32 bytes. */
const PREAMBLE = Buffer.alloc(32);
PREAMBLE[31] = 6;
const BALANCE_BYTES = 16;
const HASH_BYTES = 32;

/**
 * Computes a block's hash, as upper-case hex, from its members (docs.nano.org, "Self-signing"), which do not include the amount.
 * Null if an address is invalid or the balance is too large.
 */
export function hashOfBlock(block: StateBlock): string | null {
  const account = keyOfNanoAddress(block.account);
  const representative = keyOfNanoAddress(block.representative);
  if (account === null || representative === null) return null;
  // A larger balance would lose its highest digits, and the hash would be that of another balance.
  if (block.balance >> (8n * BigInt(BALANCE_BYTES)) !== 0n) return null;
  const balance = Buffer.from(block.balance.toString(16).padStart(2 * BALANCE_BYTES, '0'), 'hex');
  const members = [PREAMBLE, account, hex(block.previous), representative, balance, hex(block.link)];
  return Buffer.from(blake2b(Buffer.concat(members), { dkLen: HASH_BYTES }))
    .toString('hex')
    .toUpperCase();
}

/** Required work of sends and changes since the second epoch (docs.nano.org, "Work difficulty thresholds"). */
export const SEND_WORK_MIN = 0xfffffff800000000n;

/** Difficulty of a block's work, which is bound to the previous block: eight bytes of BLAKE2b, read in reverse order. */
export function workOf({ work, previous }: Pick<StateBlock, 'work' | 'previous'>): bigint {
  const seed = Buffer.concat([hex(work).reverse(), hex(previous)]);
  return Buffer.from(blake2b(seed, { dkLen: 8 })).readBigUInt64LE();
}

/** Whether the block has that hash and is signed by its account's key. */
export function isGenuine(block: StateBlock, hash: string): boolean {
  const key = keyOfNanoAddress(block.account);
  return key !== null && hashOfBlock(block) === hash && isSignedOnNano(key, hex(hash), block.signature);
}

function hex(digits: string): Buffer {
  return Buffer.from(digits, 'hex');
}
