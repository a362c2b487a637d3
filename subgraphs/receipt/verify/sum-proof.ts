import { type AtomicAmount, parseAtomic } from '../../../schema/amount.ts';
import { canonicalJson } from '../../../schema/canonical-json.ts';
import { sha256 } from '../../../schema/digest.ts';
import { foldPath } from './merkle-proof.ts';

/*
 * A Merkle sum tree: the tree of RFC 6962 §2.1, in which a node hashes the sums of both halves together with their hashes. No half can then
 * be stated with a larger or smaller sum than it has. (This is Maxwell's proof of liabilities, with the sums of both sides in the hash.)
 */

/** A subtree: the sum of its rows, and the hash that binds it. */
export interface SumNode {
  readonly sum: AtomicAmount;
  readonly hash: Buffer;
}

/**
 * One row of a total, as it is hashed. It has the hash of the payload, which only holders of the receipt can compute. The leaf hash of the
 * log would not do, because it is public in the tiles: trying leaf hashes with usual prices would reveal a small total from its root hash.
 */
export interface SumLeaf {
  readonly agent_id: number;
  readonly rail: string;
  /** Index of the row in the tree, from 0. */
  readonly row: number;
  /** Index of the receipt in the log. */
  readonly leaf_index: number;
  /** SHA-256 of the canonical payload of the receipt, hex. */
  readonly payload_hash: string;
  readonly amount: AtomicAmount;
}

/** Number of bytes in which a sum is hashed. A larger sum would wrap, so it is rejected as soon as it is computed. */
const SUM_BYTES = 32;
const SUM_BOUND = 1n << 256n;

/** The root of a tree without rows. */
export const EMPTY_SUM: SumNode = { sum: 0n as AtomicAmount, hash: sha256('') };

export function sumLeaf({ amount, ...leaf }: SumLeaf): SumNode {
  const text = canonicalJson({ ...leaf, amount: amount.toString() });
  return { sum: amount, hash: sha256(`\0${text}`) };
}

const NODE = Buffer.of(1);

/** Joins two subtrees. @throws RangeError if the sum needs more than 32 bytes */
export function sumNode(left: SumNode, right: SumNode): SumNode {
  const sum = left.sum + right.sum;
  if (sum >= SUM_BOUND) throw new RangeError('a total of more than 32 bytes');
  const hash = sha256(Buffer.concat([NODE, bytesOf(left.sum), left.hash, bytesOf(right.sum), right.hash]));
  return { sum: sum as AtomicAmount, hash };
}

function bytesOf(sum: bigint): Buffer {
  return Buffer.from(sum.toString(16).padStart(2 * SUM_BYTES, '0'), 'hex');
}

/** A sibling in the path of a row, as a document shows it. */
export interface ShownNode {
  /** Decimal digits, without a sign. */
  readonly sum: string;
  /** SHA-256, hex. */
  readonly hash: string;
}

/** Reads a shown node. Null if its sum is negative or needs more than 32 bytes, or if its hash is malformed. */
export function shownNode({ sum, hash }: ShownNode): SumNode | null {
  const amount = parseAtomic(sum);
  if (amount === null || amount >= SUM_BOUND || !/^[0-9a-f]{64}$/.test(hash)) return null;
  return { sum: amount, hash: Buffer.from(hash, 'hex') };
}

/** Root of a tree from the roots of its perfect subtrees, largest first. They are joined from the smallest up. */
export function sumRoot(peaks: readonly SumNode[]): SumNode {
  if (peaks.length === 0) return EMPTY_SUM;
  return peaks.reduceRight((right, left) => sumNode(left, right));
}

/**
 * The root that follows from a row and its path; null if the path does not belong to a tree of `rows` rows.
 * @throws RangeError if a sum needs more than 32 bytes
 */
export function rootOfRow(leaf: SumNode, row: number, rows: number, path: readonly SumNode[]): SumNode | null {
  return foldPath({ leaf, leaf_index: row, size: rows, path, join: sumNode });
}
