/* Runs work one at a time: whoever asks while it runs shares the next run. */

/**
 * Runs `work` one at a time. Whoever asks gets a run that begins after the asking, and shares it with all who ask before
 * it begins: what a run has seen holds for each of them, and a thousand who ask at once cost two runs.
 */
export function shareNextRun<T>(work: () => Promise<T>): () => Promise<T> {
  let running: Promise<unknown> = Promise.resolve();
  let next: Promise<T> | null = null;
  const run = (): Promise<T> => {
    next = null;
    const begun = work();
    running = begun.catch(() => {});
    return begun;
  };
  return () => {
    next ??= running.then(run);
    return next;
  };
}

/** The same for many kinds of work, each by its name. A name is forgotten when nobody waits for it any more. */
export class NextRuns<T> {
  readonly #asked = new Map<string, { readonly ask: () => Promise<T>; waiting: number }>();

  async share(name: string, work: () => Promise<T>): Promise<T> {
    const asked = this.#asked.get(name) ?? { ask: shareNextRun(work), waiting: 0 };
    this.#asked.set(name, asked);
    asked.waiting++;
    try {
      return await asked.ask();
    } finally {
      asked.waiting--;
      if (asked.waiting === 0) this.#asked.delete(name);
    }
  }
}
