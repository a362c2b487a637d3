import { nodeHash } from '../verify/merkle-proof.ts';
import { type Frontier, type NodeAddress } from './merkle-tree.ts';

/**
 * A node of the stored log that differs from what its receipts give. Level 0 is a leaf, with the index of its receipt. Hashes are
 * lower-case hex; null if a receipt or node is missing.
 */
export interface Damage extends NodeAddress {
  /** Hash that the node must have: for a leaf that of its receipt, for any other node that of its two stored children. */
  readonly computed: string | null;
  readonly stored: string | null;
}

/** The stored hash of a node; null if it is missing. */
export type StoredNode = (address: NodeAddress) => Buffer | null;

export interface RangeAudit {
  /** Frontier of the tree that ends with the last of these leaves. The next range begins with it. */
  readonly frontier: Frontier;
  readonly damage: readonly Damage[];
}

/**
 * Computes a range of the tree again, from leaf `from` on, and compares it with what is stored: each leaf from its receipt (null if that is
 * missing), and every node that the leaves complete. It takes at most two hashes per leaf, whatever the size of the log (RFC 6962 §2.1; the
 * frontier is a compact range). If the computed hash differs from the stored one, the stored one is used for the nodes above, because that
 * is what was signed. So a damaged node is reported alone, and the nodes above it do not look damaged.
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

/** Nodes of one level that are completed by a range of leaves: indexes `from` up to but not including `to`. */
export interface LevelRange {
  readonly level: number;
  readonly from: number;
  readonly to: number;
}

/** The stored nodes that `auditLeaves` compares for leaves `from` up to but not including `to`. */
export function nodesCompleted(from: number, to: number): LevelRange[] {
  const ranges: LevelRange[] = [];
  for (let level = 0, width = 1; width <= to; level++, width *= 2) {
    const range = { level, from: Math.floor(from / width), to: Math.floor(to / width) };
    if (range.from < range.to) ranges.push(range);
  }
  return ranges;
}

/** Represents a leaf of which neither receipt nor node is left. It is not the SHA-256 of any known text. */
const NOTHING = Buffer.alloc(32);

function hex(hash: Buffer | null): string | null {
  return hash?.toString('hex') ?? null;
}
