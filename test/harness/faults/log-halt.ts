import { openStore } from '../../../gateway/parts.ts';
import { type SignedTreeHead } from '../../../subgraphs/receipt/log/tree-head.ts';
import { atEnd } from '../release.ts';
import { copyOf } from './database-copy.ts';
import type { Ground } from './ground.ts';
import type { DatabaseProxy } from './wire.ts';

/** Helpers for tests in which the log goes back to an older state while processes run. */

type Head = Pick<SignedTreeHead, 'tree_size' | 'root_hash' | 'jws'>;

/**
 * A copy of the database in its present state, to which processes can be redirected later, like to a promoted replica or a restored dump.
 */
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

/** The halt that /health reports. Null until /health and /readyz both report that the log is halted. */
export async function haltOf({ url }: { readonly url: string }): Promise<Health['log_halt'] | null> {
  const [health, ready] = await Promise.all([
    fetch(`${url}/health`).then(answer => answer.json() as Promise<Health>),
    fetch(`${url}/readyz`),
  ]);
  return health.away.includes('log') && ready.status === 503 ? (health.log_halt ?? null) : null;
}
