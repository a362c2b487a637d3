/**
 * What this process has others work for, by task: whoever is asked is hung up on once the buyer wants it no longer. That is
 * told by every process to all (`LiveTasks`), since a buyer cancels at whichever they reach.
 */
export class WorkUnderway {
  readonly #working = new Map<string, AbortController>();

  /** `work` is handed what is aborted then; from its end on there is nothing to hang up on. */
  async during<T>(task_id: string, work: (canceled: AbortSignal) => Promise<T>): Promise<T> {
    const canceling = new AbortController();
    this.#working.set(task_id, canceling);
    try {
      return await work(canceling.signal);
    } finally {
      this.#working.delete(task_id);
    }
  }

  cancel(task_id: string): void {
    this.#working.get(task_id)?.abort();
  }
}
