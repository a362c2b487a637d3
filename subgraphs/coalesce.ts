/* Runs work one at a time: callers that arrive during a run share the next one. */

/**
 * Runs `work` one at a time. Each call gets a run that begins after it, and shares this run with all other calls made before the run
 * begins. So a thousand concurrent calls cost two runs.
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

/** Does what `shareNextRun` does, for many kinds of work, each identified by a name. A name is dropped once no caller waits for it. */
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
