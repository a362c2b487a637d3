import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { type Clock, systemClock } from '../../subgraphs/clock.ts';
import type { Database } from '../../subgraphs/database.ts';
import { endLease, renewLease } from '../../subgraphs/receipt/claim/lease.ts';

const BEAT_MS = 2_000;
/** A beat that takes longer has failed: the server does not answer, and its connection is thrown away. */
const BEAT_MS_MAX = 4_000;
/** After an outage every lease has run out: so long the living have to renew theirs before anybody is taken for dead. */
const GRACE_MS = BEAT_MS + BEAT_MS_MAX;

export interface Heartbeat {
  /**
   * Whether the last beat could be written, and not longer ago than the lease lasts: the cheapest proof that the database can be
   * written to at all. A beat that hangs is not waited for: by then the lease has run out.
   */
  beating(): boolean;
  /**
   * Beating, and not only since a moment ago: then a lease that has ended is one whose process is dead. Where this process
   * has stood still its own has ended too, and those beside it may have stood still with it.
   */
  steady(): boolean;
  /** By how much our clock is off the database's, at least, as of the last beat that was written. */
  clock_off_ms(): number;
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
  clock: Clock = systemClock,
): Promise<Heartbeat> {
  let client: pg.Client | null = await database.connect();
  let clock_off_ms = 0;
  const renewBy = async (by: pg.Client) => {
    const asked_ms = clock.now_ms();
    const told_ms = await inTime(renewLease(by, owner));
    clock_off_ms = clockOff({ asked_ms, told_ms, heard_ms: clock.now_ms() });
  };
  await renewBy(client);
  let beating = true;
  let beaten_at_ms = performance.now();
  let steady_from_ms = 0;
  const stoodStill = () => performance.now() - beaten_at_ms > GRACE_MS;
  const renew = async () => {
    client ??= await database.connect();
    await renewBy(client);
  };
  const hangUp = () => {
    // Not awaited: a server that does not answer does not say goodbye either.
    void client?.end().catch(() => {});
    client = null;
  };
  const beat = async () => {
    const unsteady = !beating || stoodStill();
    try {
      // A connection that was lost meanwhile says so only now: the next one may be good.
      await renew().catch(() => {
        hangUp();
        return renew();
      });
      beaten_at_ms = performance.now();
      if (unsteady) steady_from_ms = beaten_at_ms + GRACE_MS;
      beating = true;
    } catch (error) {
      beating = false;
      hangUp();
      log(error);
    }
  };
  const stopping = new AbortController();
  const beats = (async () => {
    while (!stopping.signal.aborted) {
      await sleep(BEAT_MS, null, { signal: stopping.signal }).catch(() => {});
      if (!stopping.signal.aborted) await beat();
    }
  })();
  return {
    beating: () => beating && !stoodStill(),
    steady: () => beating && !stoodStill() && performance.now() >= steady_from_ms,
    clock_off_ms: () => clock_off_ms,
    async stop() {
      stopping.abort();
      await beats;
      // Where the database is away it runs out by itself.
      if (client) await inTime(endLease(client, owner)).catch(() => {});
      hangUp();
    },
  };
}

async function inTime<T>(work: Promise<T>): Promise<T> {
  const late = new AbortController();
  const timeout = sleep(BEAT_MS_MAX, null, { signal: late.signal }).then(() => {
    throw new Error('the database did not take a heartbeat in time');
  });
  try {
    return await Promise.race([work, timeout]);
  } finally {
    late.abort();
    timeout.catch(() => {});
    work.catch(() => {});
  }
}

/** A time that somebody else told us, and our own when we asked and when we had heard. */
interface ToldTime {
  readonly asked_ms: number;
  readonly heard_ms: number;
  readonly told_ms: number;
}

/** By how much our clock is off at least: they told their time at some moment between our asking and our hearing. */
export function clockOff({ asked_ms, heard_ms, told_ms }: ToldTime): number {
  return Math.max(0, asked_ms - told_ms, told_ms - heard_ms);
}
