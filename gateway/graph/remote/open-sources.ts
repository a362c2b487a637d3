import type { Clock, Random } from '../../../subgraphs/clock.ts';
import type { Subgraph } from '../../../subgraphs/subgraph.ts';
import type { Sender, Uploads } from '../../../subgraphs/uploads.ts';
import { openVault } from '../../../subgraphs/vault.ts';
import type { PaidFields } from '../paid-rule.ts';
import { InProcessSource, type Source } from '../source.ts';
import { callKey } from './call.ts';
import { RemoteSource } from './remote-source.ts';
import type { RemoteUpload } from './remote-upload.ts';
import type { RemoteStandings } from './standings.ts';

export interface Remotes {
  /** By name; a subgraph without one lives in this process. */
  readonly urls: Readonly<Record<string, string | undefined>>;
  readonly secret: string;
  readonly clock: Clock;
  readonly random: Random;
  /** Told of each that is elsewhere. */
  readonly standings: RemoteStandings;
}

export interface OpenedSources {
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
