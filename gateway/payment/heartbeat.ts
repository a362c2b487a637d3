import type pg from 'pg';
import type { Database } from '../../subgraphs/database.ts';
import { endLease, renewLease } from '../../subgraphs/receipt/index.ts';

const BEAT_MS = 2_000;

export interface Heartbeat {
  /** Ends the lease, so that what this process left open may be taken at once. */
  stop(): Promise<void>;
}

/**
 * Keeps this process's lease on its claims. On a connection of its own: under load a beat that waits for the pool would
 * come too late, and others would take for dead a process that is merely busy.
 */
export async function openHeartbeat(
  database: Database,
  owner: string,
  log: (error: unknown) => void,
): Promise<Heartbeat> {
  let client: pg.Client | null = await database.connect();
  await renewLease(client, owner);
  const beat = async () => {
    try {
      client ??= await database.connect();
      await renewLease(client, owner);
    } catch (error) {
      log(error);
      await client?.end().catch(() => {});
      client = null;
    }
  };
  let beating = Promise.resolve();
  const timer = setInterval(() => {
    beating = beating.then(beat);
  }, BEAT_MS);
  return {
    async stop() {
      clearInterval(timer);
      await beating;
      if (client) await endLease(client, owner).finally(() => client?.end());
    },
  };
}
