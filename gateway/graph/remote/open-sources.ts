import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock, Random } from '../../../subgraphs/clock.ts';
import type { Subgraph } from '../../../subgraphs/subgraph.ts';
import type { Sender, Uploads } from '../../../subgraphs/uploads.ts';
import { openVault } from '../../../subgraphs/vault.ts';
import { InProcessSource, type Source } from '../source.ts';
import type { PaidFields } from '../supergraph.ts';
import { callKey } from './call.ts';
import { RemoteSource, type RemoteUpload } from './remote-source.ts';

interface Remotes {
  /** By name; a subgraph without one lives in this process. */
  readonly urls: Readonly<Record<string, string | undefined>>;
  readonly secret: string;
  readonly clock: Clock;
  readonly random: Random;
  /** Told of each that is elsewhere. */
  readonly standings: RemoteStandings;
}

interface OpenedSources {
  sourceOf(subgraph: Subgraph, paid: PaidFields): Source;
  /** A file for a subgraph that is elsewhere; null for one that is not. */
  beginUpload(subgraph: string, uploads: Uploads, sender: Sender): RemoteUpload | null;
  close(): Promise<void>;
}

/** Where each subgraph's fields come from, and the sockets to those that are elsewhere. */
export function openSources({ urls, secret, clock, random, standings }: Remotes): OpenedSources {
  const key = callKey(secret);
  const vault = openVault(secret);
  const remote = new Map<string, RemoteSource>();
  return {
    sourceOf(subgraph, paid) {
      const url = urls[subgraph.name];
      if (url === undefined) return new InProcessSource(subgraph);
      const source = new RemoteSource(subgraph, { url, key, vault, paid, clock, random });
      remote.set(subgraph.name, source);
      standings.follow(subgraph.name, () => source.answers());
      return source;
    },
    beginUpload: (subgraph, uploads, sender) => remote.get(subgraph)?.beginUpload(uploads, sender) ?? null,
    async close() {
      const stopped = standings.stop();
      await Promise.all([...remote.values()].map(source => source.close()));
      await stopped;
    },
  };
}

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
