/**
 * Time after which the next read begins even if the current one has not ended, so that a slow read delays only the callers that share it.
 */
const PATIENCE_MS = 50;

interface PendingRead<V> {
  readonly keys: Set<string>;
  readonly found: Promise<ReadonlyMap<string, V>>;
}

/**
 * Lets concurrent callers share the next read; a single caller does not wait. Each caller gets a read that begins after its request, and
 * nothing is cached.
 */
export class BatchedRead<V> {
  readonly #read: (keys: readonly string[]) => Promise<ReadonlyMap<string, V>>;
  #turn: Promise<unknown> = Promise.resolve();
  #next: PendingRead<V> | null = null;

  constructor(read: (keys: readonly string[]) => Promise<ReadonlyMap<string, V>>) {
    this.#read = read;
  }

  async ask(key: string): Promise<V | null> {
    this.#next ??= this.#announce();
    this.#next.keys.add(key);
    const found = await this.#next.found;
    return found.get(key) ?? null;
  }

  #announce(): PendingRead<V> {
    const keys = new Set<string>();
    const found = this.#turn.then(() => {
      this.#next = null;
      const read = this.#read([...keys]);
      this.#turn = endedOrLate(read);
      return read;
    });
    return { keys, found };
  }
}

function endedOrLate(read: Promise<unknown>): Promise<void> {
  return new Promise(resolve => {
    const late = setTimeout(resolve, PATIENCE_MS);
    const ended = () => {
      clearTimeout(late);
      resolve();
    };
    read.then(ended, ended);
  });
}
