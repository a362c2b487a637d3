import { hex, joined, sha } from './bytes.ts';

/* RFC 6962 section 2.1 for the second verifier, by the recursive definition. A proof is read from its last element to its first. */

export const leafOf = (data: Uint8Array) => sha(joined(Uint8Array.of(0), data));
const nodeOf = (left: Uint8Array, right: Uint8Array) => sha(joined(Uint8Array.of(1), left, right));

/** The largest power of two below n. */
const split = (n: number) => 2 ** Math.ceil(Math.log2(n) - 1);

/** The root that an audit path gives (section 2.1.1). Null if the path is too long or too short. */
function rootBy(leaf: Uint8Array, index: number, size: number, path: readonly Uint8Array[]): Uint8Array | null {
  if (size === 1) return path.length === 0 ? leaf : null;
  const top = path.at(-1);
  if (top === undefined) return null;
  const k = split(size);
  const below =
    index < k ? rootBy(leaf, index, k, path.slice(0, -1)) : rootBy(leaf, index - k, size - k, path.slice(0, -1));
  return below && (index < k ? nodeOf(below, top) : nodeOf(top, below));
}

export function isIncluded(
  leaf: Uint8Array,
  index: number,
  size: number,
  root: Uint8Array,
  path: readonly Uint8Array[],
) {
  if (!Number.isSafeInteger(index) || index < 0 || index >= size || path.length > 63) return false;
  const found = rootBy(leaf, index, size, path);
  return found !== null && hex(found) === hex(root);
}

/** The two roots that a consistency proof gives (section 2.1.2): of the first m leaves and of all n. */
function rootsBy(
  m: number,
  n: number,
  proof: readonly Uint8Array[],
  old: Uint8Array | null,
): [Uint8Array, Uint8Array] | null {
  if (m === n) {
    const known = old ?? proof[0];
    return known && proof.length === (old ? 0 : 1) ? [known, known] : null;
  }
  const top = proof.at(-1);
  if (top === undefined) return null;
  const k = split(n);
  if (m <= k) {
    const below = rootsBy(m, k, proof.slice(0, -1), old);
    return below && [below[0], nodeOf(below[1], top)];
  }
  const below = rootsBy(m - k, n - k, proof.slice(0, -1), null);
  return below && [nodeOf(top, below[0]), nodeOf(top, below[1])];
}

export interface ClaimedHead {
  readonly size: number;
  readonly root: Uint8Array;
}

export function isExtended(smaller: ClaimedHead, larger: ClaimedHead, proof: readonly Uint8Array[]): boolean {
  if (smaller.size < 1 || smaller.size > larger.size || proof.length > 64) return false;
  const roots = rootsBy(smaller.size, larger.size, proof, smaller.root);
  return roots !== null && hex(roots[0]) === hex(smaller.root) && hex(roots[1]) === hex(larger.root);
}
