/** What was made once and may be had again, while it is good: the newest so many, and the oldest is forgotten first. */
export class Remembered<V> {
  readonly #max: number;
  readonly #known = new Map<string, V>();

  constructor(max: number) {
    this.#max = max;
  }

  get(key: string, isGood: (known: V) => boolean, make: () => V): V {
    const known = this.#known.get(key);
    if (known !== undefined && isGood(known)) return known;
    const made = make();
    this.#known.delete(key);
    if (this.#known.size >= this.#max) {
      for (const oldest of this.#known.keys()) {
        this.#known.delete(oldest);
        break;
      }
    }
    this.#known.set(key, made);
    return made;
  }
}
