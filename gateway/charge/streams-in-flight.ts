/** Streams that this process brings to their end, readers or none: a clean stop waits for them before it lets go of the database. */
export class StreamsInFlight {
  readonly #running = new Map<Promise<unknown>, () => void>();
  #stopping: NodeJS.Timeout | null = null;
  #cut = false;

  /** `done` covers all that follows the last piece; `cancel` brings it about. */
  add(done: Promise<unknown>, cancel: () => void): void {
    const running = done.catch(() => {}).finally(() => this.#running.delete(running));
    this.#running.set(running, cancel);
    if (this.#cut) cancel();
  }

  /** From now on they have so long; what still runs then is cut off, and recorded without an answer. */
  stop(patience_ms: number): void {
    this.#stopping ??= setTimeout(() => this.cut(), patience_ms);
  }

  cut(): void {
    this.#cut = true;
    for (const cancel of this.#running.values()) cancel();
  }

  async ended(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running.keys());
    if (this.#stopping) clearTimeout(this.#stopping);
  }
}
