import { openStore } from '../../../gateway/parts.ts';
import { type SignedTreeHead } from '../../../subgraphs/receipt/log/tree-head.ts';
import { atEnd } from '../release.ts';
import { copyOf } from './database-copy.ts';
import type { Ground } from './ground.ts';
import type { DatabaseProxy } from './wire.ts';

/** What is asked of the log wherever it went back while processes were running. */

type Head = Pick<SignedTreeHead, 'tree_size' | 'root_hash' | 'jws'>;

/** The database as it is now, and what turns processes to it later, as a replica that was promoted, or a dump. */
export async function olderState(ground: Ground, wires: readonly DatabaseProxy[]) {
  for (const wire of wires) wire.down();
  const url = await copyOf(ground.database_url);
  for (const wire of wires) wire.up();
  const opened = await openStore(url);
  atEnd(() => opened.close());
  const heads = (database: typeof opened) =>
    database.query<Head>({ text: 'select tree_size, root_hash, jws from tree_head order by tree_size' });
  return {
    url,
    database: opened,
    turnBack(): void {
      for (const wire of wires) {
        wire.down();
        wire.up(new URL(url).pathname.slice(1));
      }
    },
    heads: () => heads(opened),
    signed: () => heads(ground.database),
  };
}

interface Health {
  readonly away: readonly string[];
  readonly log_halt?: { readonly known: object; readonly found: object };
}

/** Null until it says that the log is halted. */
export async function haltOf({ url }: { readonly url: string }): Promise<Health['log_halt'] | null> {
  const [health, ready] = await Promise.all([
    fetch(`${url}/health`).then(answer => answer.json() as Promise<Health>),
    fetch(`${url}/readyz`),
  ]);
  return health.away.includes('log') && ready.status === 503 ? (health.log_halt ?? null) : null;
}
