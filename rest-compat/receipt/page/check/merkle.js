import { hexOf, sha256Of } from './bytes.js';

/* RFC 9162 §2.1: whether a leaf stands in a tree, and whether one tree is the beginning of another. Sizes stay below 2^53. */

/** @param {Uint8Array} data */
export const leafHashOf = data => sha256Of(Uint8Array.of(0), data);
/** @param {Uint8Array} left @param {Uint8Array} right */
const parentOf = (left, right) => sha256Of(Uint8Array.of(1), left, right);
/** @param {number} value */
const halved = value => Math.floor(value / 2);

/** §2.1.3.2. @param {{leaf: Uint8Array, index: number, size: number, root: Uint8Array}} claim @param {Uint8Array[]} path */
export async function isIncluded({ leaf, index, size, root }, path) {
  if (!Number.isSafeInteger(index) || index < 0 || index >= size) return false;
  let [node, last, hash] = [index, size - 1, leaf];
  for (const sibling of path) {
    if (last === 0) return false;
    if (node % 2 === 1 || node === last) {
      hash = await parentOf(sibling, hash);
      while (node % 2 === 0 && node !== 0) [node, last] = [halved(node), halved(last)];
    } else hash = await parentOf(hash, sibling);
    [node, last] = [halved(node), halved(last)];
  }
  return last === 0 && hexOf(hash) === hexOf(root);
}

/**
 * §2.1.4.2.
 * @typedef {{size: number, root: Uint8Array}} Head
 * @param {Head} smaller @param {Head} larger @param {Uint8Array[]} proof
 */
export async function isExtended(smaller, larger, proof) {
  if (!(smaller.size > 0 && smaller.size <= larger.size)) return false;
  if (smaller.size === larger.size) return proof.length === 0 && hexOf(smaller.root) === hexOf(larger.root);
  const whole = Number.isInteger(Math.log2(smaller.size));
  const [first, ...path] = whole ? [smaller.root, ...proof] : proof;
  if (!first) return false;
  let [node, last, old_hash, hash] = [smaller.size - 1, larger.size - 1, first, first];
  while (node % 2 === 1) [node, last] = [halved(node), halved(last)];
  for (const sibling of path) {
    if (last === 0) return false;
    if (node % 2 === 1 || node === last) {
      old_hash = await parentOf(sibling, old_hash);
      hash = await parentOf(sibling, hash);
      while (node % 2 === 0 && node !== 0) [node, last] = [halved(node), halved(last)];
    } else hash = await parentOf(hash, sibling);
    [node, last] = [halved(node), halved(last)];
  }
  return last === 0 && hexOf(old_hash) === hexOf(smaller.root) && hexOf(hash) === hexOf(larger.root);
}
