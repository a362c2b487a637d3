import { type AtomicAmount, parseAtomic } from '../../../schema/amount.ts';
import { canonicalJson } from '../../../schema/canonical-json.ts';
import { sha256 } from '../../../schema/digest.ts';
import { foldPath } from './merkle-proof.ts';

/*
 * A Merkle sum tree: the tree of RFC 6962 §2.1 in which a node hashes the sums of both halves beside their hashes, so that no half can be
 * stated with a larger or smaller sum than it has (Maxwell's proof of liabilities, with the sums inside of the hash on both sides).
 */

/** A subtree: the sum of its rows, and the hash that binds it. */
export interface SumNode {
  readonly sum: AtomicAmount;
  readonly hash: Buffer;
}

/**
 * One row of a total, as it is hashed. It uses the hash of the payload, which only holders of the receipt know: the
 * log's leaf hash is public in the tiles, and trying those with usual prices would reveal a small total from its root
 * hash.
 */
export interface SumLeaf {
  readonly agent_id: number;
  readonly rail: string;
  /** Its place in the tree, from 0. */
  readonly row: number;
  /** Position of its receipt in the log, and SHA-256 of its canonical payload, hex. */
  readonly leaf_index: number;
  readonly payload_hash: string;
  readonly amount: AtomicAmount;
}

/** Sums are hashed in 32 bytes: a larger one would wrap, so it is refused as soon as it is computed. */
const SUM_BYTES = 32;
const SUM_BOUND = 1n << 256n;

/** The root of a tree without rows. */
export const EMPTY_SUM: SumNode = { sum: 0n as AtomicAmount, hash: sha256('') };

export function sumLeaf({ amount, ...leaf }: SumLeaf): SumNode {
  const text = canonicalJson({ ...leaf, amount: amount.toString() });
  return { sum: amount, hash: sha256(`\0${text}`) };
}

const NODE = Buffer.of(1);

/** @throws RangeError if the sum does not fit its 32 bytes */
export function sumNode(left: SumNode, right: SumNode): SumNode {
  const sum = left.sum + right.sum;
  if (sum >= SUM_BOUND) throw new RangeError('a total of more than 32 bytes');
  const hash = sha256(Buffer.concat([NODE, bytesOf(left.sum), left.hash, bytesOf(right.sum), right.hash]));
  return { sum: sum as AtomicAmount, hash };
}

function bytesOf(sum: bigint): Buffer {
  return Buffer.from(sum.toString(16).padStart(2 * SUM_BYTES, '0'), 'hex');
}

/** A neighbour on the way up, as a document shows it. */
export interface ShownNode {
  /** Digits: never a sign. */
  readonly sum: string;
  /** Hex. */
  readonly hash: string;
}

/** Null if it is invalid: its sum is below zero or beyond 32 bytes, or its hash is not one. */
export function shownNode({ sum, hash }: ShownNode): SumNode | null {
  const amount = parseAtomic(sum);
  if (amount === null || amount >= SUM_BOUND || !/^[0-9a-f]{64}$/.test(hash)) return null;
  return { sum: amount, hash: Buffer.from(hash, 'hex') };
}

/** Folds the peaks from the smallest up. */
export function sumRoot(peaks: readonly SumNode[]): SumNode {
  if (peaks.length === 0) return EMPTY_SUM;
  return peaks.reduceRight((right, left) => sumNode(left, right));
}

/**
 * The root that follows from a row and its neighbours; null if the path does not belong to a tree of that many rows.
 * @throws RangeError if a sum does not fit
 */
export function rootOfRow(leaf: SumNode, row: number, rows: number, path: readonly SumNode[]): SumNode | null {
  return foldPath({ leaf, leaf_index: row, size: rows, path, join: sumNode });
}
