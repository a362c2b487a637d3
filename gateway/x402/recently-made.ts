import { LRUCache } from 'lru-cache';

/** What was made once and may be had again, while it is good: so many, and the one longest unused is forgotten first. */
export class Remembered<V extends NonNullable<unknown>> {
  readonly #known: LRUCache<string, V>;

  constructor(max: number) {
    this.#known = new LRUCache({ max });
  }

  get(key: string, isGood: (known: V) => boolean, make: () => V): V {
    const known = this.#known.get(key);
    if (known !== undefined && isGood(known)) return known;
    const made = make();
    this.#known.set(key, made);
    return made;
  }
}
