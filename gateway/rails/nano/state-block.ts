import { blake2b } from '@noble/hashes/blake2';
import { keyOfNanoAddress } from './address.ts';
import { isSignedOnNano } from './signature.ts';

/** A state block as its node shows it; all that its hash is of, and by what it was signed and sent. */
export interface StateBlock {
  readonly account: string;
  /** Hashes, links: 64 hex digits. */
  readonly previous: string;
  readonly representative: string;
  /** Raw, what the account has after it. */
  readonly balance: bigint;
  readonly link: string;
  readonly signature: string;
  /** 16 hex digits. */
  readonly work: string;
}

/** What a state block's hash begins with: 6, in 32 bytes. */
const PREAMBLE = Buffer.alloc(32);
PREAMBLE[31] = 6;
const BALANCE_BYTES = 16;
const HASH_BYTES = 32;

/**
 * The hash of a block, upper-case hex, from its members alone (docs.nano.org, "Self-signing"): the amount is none of them.
 * Null where an address in it is none, or its balance more than there is.
 */
export function hashOfBlock(block: StateBlock): string | null {
  const account = keyOfNanoAddress(block.account);
  const representative = keyOfNanoAddress(block.representative);
  if (account === null || representative === null) return null;
  // An odd digit too many would be left out, and another balance hashed.
  if (block.balance >> (8n * BigInt(BALANCE_BYTES)) !== 0n) return null;
  const balance = Buffer.from(block.balance.toString(16).padStart(2 * BALANCE_BYTES, '0'), 'hex');
  const members = [PREAMBLE, account, hex(block.previous), representative, balance, hex(block.link)];
  return Buffer.from(blake2b(Buffer.concat(members), { dkLen: HASH_BYTES }))
    .toString('hex')
    .toUpperCase();
}

/** What a network takes of sends and changes since its second epoch (docs.nano.org, "Work difficulty thresholds"). */
export const SEND_WORK_MIN = 0xfffffff800000000n;

/** The difficulty of a block's work, which is bound to the block before it: eight bytes of BLAKE2b, read backwards. */
export function workOf({ work, previous }: Pick<StateBlock, 'work' | 'previous'>): bigint {
  const seed = Buffer.concat([hex(work).reverse(), hex(previous)]);
  return Buffer.from(blake2b(seed, { dkLen: 8 })).readBigUInt64LE();
}

/** Whether it is the block of that hash, by its account's key. */
export function isGenuine(block: StateBlock, hash: string): boolean {
  const key = keyOfNanoAddress(block.account);
  return key !== null && hashOfBlock(block) === hash && isSignedOnNano(key, hex(hash), block.signature);
}

function hex(digits: string): Buffer {
  return Buffer.from(digits, 'hex');
}
