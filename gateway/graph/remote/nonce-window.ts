export type NonceTaken = 'fresh' | 'seen' | 'full';

/**
 * Which calls have been taken, for as long as any of them would be taken again. Calls are kept by the window that their
 * time lies in, and a window is forgotten as a whole: to look and to forget costs the same at any number.
 */
export class NonceWindow {
  readonly #age_ms_max: number;
  readonly #calls_max: number;
  readonly #windows = new Map<number, Set<string>>();
  #count = 0;

  constructor({ age_ms_max, calls_max }: { readonly age_ms_max: number; readonly calls_max: number }) {
    this.#age_ms_max = age_ms_max;
    this.#calls_max = calls_max;
  }

  /** `full`: it is not remembered, and so must not be taken. To forget an older one would let that one in again. */
  take(nonce: string, at_ms: number, now_ms: number): NonceTaken {
    this.#forget(now_ms);
    const index = Math.floor(at_ms / this.#age_ms_max);
    const window = this.#windows.get(index) ?? new Set();
    if (window.has(nonce)) return 'seen';
    if (this.#count >= this.#calls_max) return 'full';
    this.#windows.set(index, window.add(nonce));
    this.#count += 1;
    return 'fresh';
  }

  #forget(now_ms: number): void {
    for (const [index, window] of this.#windows) {
      // The youngest call of a window is as young as its end.
      if ((index + 1) * this.#age_ms_max + this.#age_ms_max >= now_ms) continue;
      this.#windows.delete(index);
      this.#count -= window.size;
    }
  }
}
