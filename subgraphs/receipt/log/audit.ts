import { nodeHash } from '../verify/merkle-proof.ts';
import { type Frontier, type NodeAddress } from './merkle-tree.ts';

/**
 * A place at which the stored log is not what its receipts make of it: level 0 is a leaf, and its index the receipt's.
 * Hashes are lower-case hex; null: there is nothing.
 */
export interface Damage extends NodeAddress {
  /** What the node must be: a leaf by its receipt, any other by its two children as they are stored. */
  readonly computed: string | null;
  readonly stored: string | null;
}

/** The stored hash of a node; null if it is missing. */
export type StoredNode = (address: NodeAddress) => Buffer | null;

export interface RangeAudit {
  /** Frontier of the tree that ends with the last of these leaves; the next range begins with it. */
  readonly frontier: Frontier;
  readonly damage: readonly Damage[];
}

/**
 * Computes a range of the tree again, from leaf `from` on: each leaf from its receipt (null if that is missing), and every node that is
 * complete with it, and compares them with what is stored. At most two hashes per leaf, whatever the size of the log (RFC 6962 §2.1; the
 * frontier is a compact range). If both differ it goes on with what is stored, since that is what was signed: so one damaged place is named
 * as it is and does not make all above it look damaged.
 */
export function auditLeaves(
  frontier: Frontier,
  from: number,
  leaves: readonly (Buffer | null)[],
  storedAt: StoredNode,
): RangeAudit {
  const peaks = [...frontier];
  const damage: Damage[] = [];
  const compared = (address: NodeAddress, computed: Buffer | null): Buffer => {
    const stored = storedAt(address);
    if (computed === null || stored === null || !computed.equals(stored))
      damage.push({ ...address, computed: hex(computed), stored: hex(stored) });
    return stored ?? computed ?? NOTHING;
  };
  leaves.forEach((leaf, place) => {
    let index = from + place;
    let hash = compared({ level: 0, index }, leaf);
    for (let level = 1; index % 2 === 1; level++) {
      const left = peaks.pop();
      if (left === undefined) throw new RangeError(`the frontier does not belong to a tree of ${from} leaves`);
      index = (index - 1) / 2;
      hash = compared({ level, index }, nodeHash(left, hash));
    }
    peaks.push(hash);
  });
  return { frontier: peaks, damage };
}

/** Indexes of the nodes of one level that are complete with one of the leaves `from` up to `to`. */
export interface LevelRange {
  readonly level: number;
  readonly from: number;
  readonly to: number;
}

/** The stored nodes that `auditLeaves` will compare. */
export function nodesCompleted(from: number, to: number): LevelRange[] {
  const ranges: LevelRange[] = [];
  for (let level = 0, width = 1; width <= to; level++, width *= 2) {
    const range = { level, from: Math.floor(from / width), to: Math.floor(to / width) };
    if (range.from < range.to) ranges.push(range);
  }
  return ranges;
}

/** Represents a leaf of which neither receipt nor node is left: not the SHA-256 of any known text. */
const NOTHING = Buffer.alloc(32);

function hex(hash: Buffer | null): string | null {
  return hash?.toString('hex') ?? null;
}
