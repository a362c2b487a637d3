import { LRUCache } from 'lru-cache';

/** Remembered canceled tasks. Most of them are worked on in other processes, or no longer. */
const CANCELED_KNOWN_MAX = 4_096;

/**
 * Work in progress in this process, by task, so that the connection to its hub ends when the buyer cancels. Every process is notified of
 * each cancel (`LiveTasks`), because a buyer may cancel at any of them.
 */
export class WorkUnderway {
  readonly #working = new Map<string, AbortController>();
  /** A task canceled between its claim and its work ends as soon as the work begins. */
  readonly #canceled = new LRUCache<string, true>({ max: CANCELED_KNOWN_MAX });

  /** Runs `work` with a signal that aborts when the task is canceled. A cancel after the end of the work has no effect. */
  async during<T>(task_id: string, work: (canceled: AbortSignal) => Promise<T>): Promise<T> {
    const canceling = new AbortController();
    this.#working.set(task_id, canceling);
    if (this.#canceled.has(task_id)) canceling.abort();
    try {
      return await work(canceling.signal);
    } finally {
      this.#working.delete(task_id);
    }
  }

  tasks(): readonly string[] {
    return [...this.#working.keys()];
  }

  cancel(task_id: string): void {
    this.#canceled.set(task_id, true);
    this.#working.get(task_id)?.abort();
  }

  /** Whether this process noticed a cancel. The claim may no longer show it, because the same payment can be claimed again at once. */
  wasCanceled(task_id: string): boolean {
    return this.#canceled.has(task_id);
  }
}
