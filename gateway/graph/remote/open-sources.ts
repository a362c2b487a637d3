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
  /** URLs by the names of subgraphs. A subgraph without a URL runs in this process. */
  readonly urls: Readonly<Record<string, string | undefined>>;
  readonly secret: string;
  readonly clock: Clock;
  readonly random: Random;
  /** Follows the availability of each remote subgraph. */
  readonly standings: RemoteStandings;
}

interface OpenedSources {
  sourceOf(subgraph: Subgraph, paid: PaidFields): Source;
  /** Begins to send a file to a remote subgraph. Null for a local subgraph. */
  beginUpload(subgraph: string, uploads: Uploads, sender: Sender): RemoteUpload | null;
  close(): Promise<void>;
}

/** The sources of the subgraphs' fields, and the connections to remote ones. */
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

/** Pause between two checks of a subgraph. An outage is noticed after at most this time and the time of a check. */
const LOOK_MS = 2_000;

/**
 * Follows whether the remote subgraphs answer this gateway. Each receives an empty call, signed like every call, so that a subgraph that
 * would reject signed calls counts as unavailable too. A subgraph also counts as unavailable before its first answer.
 */
export class RemoteStandings {
  readonly #answers = new Map<string, boolean>();
  readonly #looking: Promise<void>[] = [];
  readonly #stopping = new AbortController();

  /** Begins to check a subgraph. `look` must end by itself and never throw. */
  follow(name: string, look: () => Promise<boolean>): void {
    this.#answers.set(name, false);
    this.#looking.push(this.#follow(name, look));
  }

  /** Names of the subgraphs that do not answer, in the order in which they were added. */
  missingSubgraphs(): readonly string[] {
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
