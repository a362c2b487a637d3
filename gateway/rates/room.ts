/** Bytes that are on their way from each caller: how many at once, not how many in a time. */
export class Room {
  readonly bytes_max: number;
  readonly #held = new Map<string, number>();

  constructor(bytes_max: number) {
    this.bytes_max = bytes_max;
  }

  /** Null where there is no room for as many; or else what gives it back. One request alone always has room. */
  hold(caller: string, bytes: number): (() => void) | null {
    const held = this.#held.get(caller) ?? 0;
    if (held > 0 && held + bytes > this.bytes_max) return null;
    this.#held.set(caller, held + bytes);
    return () => {
      const left = (this.#held.get(caller) ?? 0) - bytes;
      if (left > 0) this.#held.set(caller, left);
      else this.#held.delete(caller);
    };
  }
}
