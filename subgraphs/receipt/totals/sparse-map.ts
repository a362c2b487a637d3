import { EMPTY_MAP, type MapProof, mapLeaf, mapNode } from '../verify/map-proof.ts';

/*
 * The sparse map as it is stored: pages of sixteen entries, one level per hex digit of a key, so that a million keys are five pages deep.
 * This file reads and writes no storage: the caller loads and stores the pages.
 */

interface Leaf {
  readonly key: string;
  readonly value: string;
}

/** An entry of a page: a key that is alone there, or the hash of the page below the entry, hex. */
type Place = Leaf | { readonly page: string };

/** The entries of a page, by the hex digit of the key that follows the page's prefix. */
export type MapPage = Readonly<Record<string, Place>>;

/** A part of a page, with its hash, and with its leaf if it has only one key. */
type Part = { readonly leaf: Leaf; readonly hash: Buffer } | { readonly leaf: null; readonly hash: Buffer };
const NOTHING: Part = { leaf: null, hash: EMPTY_MAP };

const PAGE_BITS = 4;
const PLACES = 1 << PAGE_BITS;

/** The map as far as its pages are loaded. It records which pages were changed. */
export class SparseMap {
  readonly #pages: Map<string, MapPage>;
  readonly #changed = new Set<string>();
  /** Computed hashes within each page, as a binary heap: parts `2n` and `2n + 1` make up part `n`. */
  readonly #parts = new Map<string, (Part | undefined)[]>();

  constructor(pages: Iterable<readonly [string, MapPage]> = []) {
    this.#pages = new Map(pages);
  }

  /** Sets the value of a key, whose pages must be loaded. */
  set(key: string, value: string): void {
    for (let depth = 0; ; depth++) {
      const prefix = key.slice(0, depth);
      const page = this.#pages.get(prefix) ?? {};
      const digit = key.charAt(depth);
      const place = page[digit];
      this.#changed.add(prefix);
      if (place === undefined || ('key' in place && place.key === key)) {
        this.#put(prefix, digit, { key, value });
        return;
      }
      if ('page' in place) continue;
      // The key in this entry moves down until its digits differ from those of the new key.
      this.#put(prefix, digit, { page: '' });
      this.#put(prefix + digit, place.key.charAt(depth + 1), place);
    }
  }

  /** Sets an entry, and removes the hashes of the parts of the page that contain it: only these must be computed again. */
  #put(prefix: string, digit: string, place: Place): void {
    this.#pages.set(prefix, { ...this.#pages.get(prefix), [digit]: place });
    const parts = this.#parts.get(prefix);
    if (parts === undefined) return;
    for (let at = PLACES + Number.parseInt(digit, PLACES); at > 0; at >>= 1) parts[at] = undefined;
  }

  get(key: string): string | null {
    for (let depth = 0; ; depth++) {
      const place = this.#pages.get(key.slice(0, depth))?.[key.charAt(depth)];
      if (place === undefined) return null;
      if ('key' in place) return place.key === key ? place.value : null;
    }
  }

  /** Hashes the changed pages, from the deepest up, and returns them. */
  store(): readonly { readonly prefix: string; readonly page: MapPage }[] {
    const changed = [...this.#changed].sort((one, other) => other.length - one.length);
    this.#changed.clear();
    for (const prefix of changed) {
      if (prefix === '') continue;
      this.#put(prefix.slice(0, -1), prefix.slice(-1), { page: this.#part(prefix).hash.toString('hex') });
    }
    return changed.map(prefix => ({ prefix, page: this.#pages.get(prefix) ?? {} }));
  }

  /** Root of the map, hex. After a change it is correct only once `store` was called. */
  get root(): string {
    return this.#part('').hash.toString('hex');
  }

  /** Whether the loaded pages have this root (hex), and each page has the hash that the page above it names. */
  isSound(root: string): boolean {
    return [...this.#pages.keys()].every(prefix => {
      const place = prefix === '' ? { page: root } : this.#pages.get(prefix.slice(0, -1))?.[prefix.slice(-1)];
      return place !== undefined && 'page' in place && place.page === this.#part(prefix).hash.toString('hex');
    });
  }

  /** Proof of the value of a key, or that it has none. After a change it is correct only once `store` was called. */
  prove(key: string): MapProof {
    const siblings: (string | null)[] = [];
    for (let depth = 0; ; depth++) {
      const prefix = key.slice(0, depth);
      const digit = Number.parseInt(key.charAt(depth), 16);
      for (let bits = PAGE_BITS; bits > 0; bits--) {
        const here = this.#part(prefix, (PLACES + digit) >> bits);
        if (here.leaf || here === NOTHING) return proofOf(key, siblings, here);
        const beside = this.#part(prefix, ((PLACES + digit) >> (bits - 1)) ^ 1);
        siblings.push(beside === NOTHING ? null : beside.hash.toString('hex'));
      }
      const place = this.#part(prefix, PLACES + digit);
      if (place.leaf || place === NOTHING) return proofOf(key, siblings, place);
    }
  }

  /** A part of a page: 1 is the whole page, and 16 to 31 are its entries. A part is hashed again only after a change in it. */
  #part(prefix: string, at = 1): Part {
    const parts = this.#parts.get(prefix) ?? [];
    this.#parts.set(prefix, parts);
    const known = parts[at];
    if (known) return known;
    const part =
      at < PLACES ? joinNodes(this.#part(prefix, 2 * at), this.#part(prefix, 2 * at + 1)) : this.#at(prefix, at);
    parts[at] = part;
    return part;
  }

  #at(prefix: string, at: number): Part {
    const place = this.#pages.get(prefix)?.[(at - PLACES).toString(PLACES)];
    if (place === undefined) return NOTHING;
    if ('page' in place) return { leaf: null, hash: bytes(place.page) };
    return { leaf: place, hash: mapLeaf(bytes(place.key), bytes(place.value)) };
  }
}

function joinNodes(left: Part, right: Part): Part {
  if (left === NOTHING && (right === NOTHING || right.leaf)) return right;
  if (right === NOTHING && left.leaf) return left;
  return { leaf: null, hash: mapNode(left.hash, right.hash) };
}

function proofOf(key: string, siblings: readonly (string | null)[], { leaf }: Part): MapProof {
  return leaf === null || leaf.key === key ? { siblings } : { siblings, instead: { key: leaf.key, value: leaf.value } };
}

const bytes = (hex: string) => Buffer.from(hex, 'hex');
