import { setTimeout as sleep } from 'node:timers/promises';

/** How long a gateway rests between two looks at a subgraph: within this and a look's own time it is known to be away. */
const LOOK_MS = 2_000;

/**
 * Whether the subgraphs that are processes of their own answer this gateway: each is asked for nothing, signed as every call
 * is, so that one which would refuse our calls is away as much as one that is not there. Before the first answer it is.
 */
export class RemoteStandings {
  readonly #answers = new Map<string, boolean>();
  readonly #looking: Promise<void>[] = [];
  readonly #stopping = new AbortController();

  /** `look` comes to its end by itself, and never throws. */
  follow(name: string, look: () => Promise<boolean>): void {
    this.#answers.set(name, false);
    this.#looking.push(this.#follow(name, look));
  }

  /** By name, in the order in which they were followed. */
  away(): readonly string[] {
    return [...this.#answers].flatMap(([name, answers]) => (answers ? [] : [name]));
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await Promise.all(this.#looking);
  }

  async #follow(name: string, look: () => Promise<boolean>): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      this.#answers.set(name, await look());
      await sleep(LOOK_MS, null, { signal, ref: false }).catch(() => {});
    }
  }
}
