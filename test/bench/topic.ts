/** Publishes events within one process. Each subscriber has a separate queue. */
export class Topic<T> {
  readonly #queues = new Set<Queue<T>>();

  get subscribers(): number {
    return this.#queues.size;
  }

  publish(event: T): void {
    for (const queue of this.#queues) queue.push(event);
  }

  subscribe(): AsyncIterableIterator<T> {
    const queue = new Queue<T>(() => this.#queues.delete(queue));
    this.#queues.add(queue);
    return queue;
  }
}

class Queue<T> implements AsyncIterableIterator<T> {
  readonly #events: T[] = [];
  readonly #leave: () => void;
  #wake: ((result: IteratorResult<T>) => void) | null = null;

  constructor(leave: () => void) {
    this.#leave = leave;
  }

  push(value: T): void {
    if (this.#wake) this.#wake({ done: false, value });
    else this.#events.push(value);
    this.#wake = null;
  }

  next(): Promise<IteratorResult<T>> {
    const [value] = this.#events.splice(0, 1);
    if (value !== undefined) return Promise.resolve({ done: false, value });
    return new Promise(resolve => {
      this.#wake = resolve;
    });
  }

  async return(): Promise<IteratorResult<T>> {
    this.#leave();
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}
