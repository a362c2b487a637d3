import { EMPTY_ROOT, nodeHash, rootOf } from './merkle-proof.ts';

/** Root of the perfect subtree of 2^height leaves that begins at leaf index × 2^height. */
export interface CompleteNode {
  readonly height: number;
  readonly index: number;
  readonly hash: Buffer;
}

/**
 * A Merkle tree (RFC 6962 §2.1) that a follower of a log computes leaf by leaf. It keeps only the roots of the perfect subtrees. The log's
 * own tree is separate code, so that each of them reveals an error in the other.
 */
export class GrowingTree {
  /** Roots of the perfect subtrees, largest first: one for each 1 bit of the size. */
  readonly #peaks: CompleteNode[] = [];
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get root(): Buffer {
    return this.#size === 0 ? EMPTY_ROOT : rootOf(this.#peaks.map(({ hash }) => hash));
  }

  /** Appends a leaf hash. Returns the leaf and each node that it completes, lowest first. */
  add(leaf: Buffer): readonly CompleteNode[] {
    let node: CompleteNode = { height: 0, index: this.#size, hash: leaf };
    const complete = [node];
    for (let left = this.#peaks.at(-1); left?.height === node.height; left = this.#peaks.at(-1)) {
      this.#peaks.pop();
      node = { height: node.height + 1, index: left.index / 2, hash: nodeHash(left.hash, node.hash) };
      complete.push(node);
    }
    this.#peaks.push(node);
    this.#size += 1;
    return complete;
  }

  copy(): GrowingTree {
    const copy = new GrowingTree();
    copy.#peaks.push(...this.#peaks);
    copy.#size = this.#size;
    return copy;
  }
}
