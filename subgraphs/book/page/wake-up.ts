/** Wake-ups as they are: one that comes while nobody waits is kept, and two are as good as one. */
export class Bell {
  /** The newest position that was told of. */
  #newest: number | null = null;
  /** Rung without a position (after a reconnect): something may have come that was not told. */
  #unsure = false;
  #closed = false;
  #wake: (() => void) | null = null;

  get closed(): boolean {
    return this.#closed;
  }

  ring(position: number | null): void {
    if (position === null) this.#unsure = true;
    else this.#newest = Math.max(this.#newest ?? 0, position);
    this.#wake?.();
  }

  /** To be called before the ledger is read: the newest position told of, or null where that is not the whole news. */
  answer(): number | null {
    const told = this.#unsure ? null : this.#newest;
    this.#unsure = false;
    return told;
  }

  /** Resolves when something beyond `position` may stand in the ledger, or when the bell is closed. */
  async rungBeyond(position: number): Promise<void> {
    while (!this.#closed && !this.#unsure && (this.#newest ?? 0) <= position) {
      await new Promise<void>(resolve => {
        this.#wake = resolve;
      });
    }
  }

  close(): void {
    this.#closed = true;
    this.#wake?.();
  }
}
