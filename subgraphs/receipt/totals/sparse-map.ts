import { EMPTY_MAP, type MapProof, mapLeaf, mapNode } from '../verify/map-proof.ts';

/*
 * The sparse map as it is kept: pages of sixteen places, one for each further digit of a key in hex, so that a million keys lie five
 * pages deep. Pure, no storage: whoever calls has the pages on the keys' way at hand.
 */

interface Leaf {
  readonly key: string;
  readonly value: string;
}

/** A key that stands alone at its place, or the hash of the page below it. */
type Place = Leaf | { readonly page: string };

/** By the digit that follows the page's prefix. */
export type MapPage = Readonly<Record<string, Place>>;

/** What a part of a page comes to. */
type Part = { readonly leaf: Leaf; readonly hash: Buffer } | { readonly leaf: null; readonly hash: Buffer };
const NOTHING: Part = { leaf: null, hash: EMPTY_MAP };

/** The pages that are at hand, by prefix; what is changed is noted. */
export class SparseMap {
  readonly #pages: Map<string, MapPage>;
  readonly #changed = new Set<string>();

  constructor(pages: Iterable<readonly [string, MapPage]> = []) {
    this.#pages = new Map(pages);
  }

  /** Sets what a key stands for; each must have its way at hand. */
  set(key: string, value: string): void {
    for (let depth = 0; ; depth++) {
      const prefix = key.slice(0, depth);
      const page = this.#pages.get(prefix) ?? {};
      const digit = key.charAt(depth);
      const place = page[digit];
      this.#changed.add(prefix);
      if (place === undefined || ('key' in place && place.key === key)) {
        this.#pages.set(prefix, { ...page, [digit]: { key, value } });
        return;
      }
      if ('page' in place) continue;
      // The one that stood here moves down, and does so again until their digits differ.
      this.#pages.set(prefix, { ...page, [digit]: { page: '' } });
      this.#pages.set(prefix + digit, { [place.key.charAt(depth + 1)]: place });
    }
  }

  get(key: string): string | null {
    for (let depth = 0; ; depth++) {
      const place = this.#pages.get(key.slice(0, depth))?.[key.charAt(depth)];
      if (place === undefined) return null;
      if ('key' in place) return place.key === key ? place.value : null;
    }
  }

  /** Hashes what was changed, from the deepest page up, and hands it out. */
  store(): readonly { readonly prefix: string; readonly page: MapPage }[] {
    const changed = [...this.#changed].sort((one, other) => other.length - one.length);
    this.#changed.clear();
    for (const prefix of changed) {
      if (prefix === '') continue;
      const above = prefix.slice(0, -1);
      const page = this.#pages.get(above) ?? {};
      this.#pages.set(above, { ...page, [prefix.slice(-1)]: { page: this.#part(prefix).hash.toString('hex') } });
    }
    return changed.map(prefix => ({ prefix, page: this.#pages.get(prefix) ?? {} }));
  }

  /** Hex. Of what was stored. */
  get root(): string {
    return this.#part('').hash.toString('hex');
  }

  /** Whether the pages at hand have this root (hex), each of them being the one that the page above it names. */
  isSound(root: string): boolean {
    return [...this.#pages.keys()].every(prefix => {
      const place = prefix === '' ? { page: root } : this.#pages.get(prefix.slice(0, -1))?.[prefix.slice(-1)];
      return place !== undefined && 'page' in place && place.page === this.#part(prefix).hash.toString('hex');
    });
  }

  /** That the key has the value which it has, or none. Of what was stored. */
  prove(key: string): MapProof {
    const siblings: (string | null)[] = [];
    for (let depth = 0; ; depth++) {
      const prefix = key.slice(0, depth);
      const digit = Number.parseInt(key.charAt(depth), 16);
      for (let [from, to] = [0, 16]; to - from > 1; ) {
        const here = this.#part(prefix, from, to);
        if (here.leaf || here === NOTHING) return proofOf(key, siblings, here);
        const middle = (from + to) / 2;
        const beside = digit < middle ? this.#part(prefix, middle, to) : this.#part(prefix, from, middle);
        siblings.push(beside === NOTHING ? null : beside.hash.toString('hex'));
        if (digit < middle) to = middle;
        else from = middle;
      }
      const place = this.#part(prefix, digit, digit + 1);
      if (place.leaf || place === NOTHING) return proofOf(key, siblings, place);
    }
  }

  /** Of the places from one digit up to another. */
  #part(prefix: string, from = 0, to = 16): Part {
    if (to - from > 1) {
      const middle = (from + to) / 2;
      const [left, right] = [this.#part(prefix, from, middle), this.#part(prefix, middle, to)];
      if (left === NOTHING && (right === NOTHING || right.leaf)) return right;
      if (right === NOTHING && left.leaf) return left;
      return { leaf: null, hash: mapNode(left.hash, right.hash) };
    }
    const place = this.#pages.get(prefix)?.[from.toString(16)];
    if (place === undefined) return NOTHING;
    if ('page' in place) return { leaf: null, hash: bytes(place.page) };
    return { leaf: place, hash: mapLeaf(bytes(place.key), bytes(place.value)) };
  }
}

function proofOf(key: string, siblings: readonly (string | null)[], { leaf }: Part): MapProof {
  return leaf === null || leaf.key === key ? { siblings } : { siblings, instead: { key: leaf.key, value: leaf.value } };
}

const bytes = (hex: string) => Buffer.from(hex, 'hex');
