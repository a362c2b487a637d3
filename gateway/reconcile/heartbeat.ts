import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { type Clock, systemClock } from '../../subgraphs/clock.ts';
import type { Database } from '../../subgraphs/database.ts';
import { endLease, renewLease } from '../../subgraphs/receipt/claim/lease.ts';

const BEAT_MS = 2_000;
/** Time limit of a beat. A beat that takes longer has failed, and its connection is closed. */
const BEAT_MS_MAX = 4_000;
/**
 * Time that living processes get to renew their leases after an outage, which lets all leases expire, before any process is considered
 * dead.
 */
const GRACE_MS = BEAT_MS + BEAT_MS_MAX;

export interface Heartbeat {
  /**
   * Whether the last beat was written within the time of the lease. This is the cheapest proof that the database accepts writes. A beat
   * that hangs counts as failed once the lease has expired.
   */
  isBeating(): boolean;
  /**
   * Whether this process has been beating for some time, so that an expired lease of another process means that it is dead. If this process
   * was suspended, its own lease expired too, and others may have been suspended with it.
   */
  steady(): boolean;
  /** Minimum difference between the clocks of this process and the database, at the last beat. */
  clock_off_ms(): number;
  /** Stops beating and ends the lease, so that other processes can take open claims at once. */
  stop(): Promise<void>;
}

/**
 * Renews this process's lease on its claims, on a separate connection. Under load, a beat that waits for the pool would be late, and other
 * processes would consider a busy process dead.
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
    const theirs_ms = await inTime(renewLease(by, owner));
    clock_off_ms = clockOff({ asked_ms, theirs_ms, received_ms: clock.now_ms() });
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
    // The end is not awaited, because a server that does not respond does not close the connection either.
    void client?.end().catch(() => {});
    client = null;
  };
  const beat = async () => {
    const unsteady = !beating || stoodStill();
    try {
      // A connection that was lost since the last beat fails only now. A new one may work.
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
    isBeating: () => beating && !stoodStill(),
    steady: () => beating && !stoodStill() && performance.now() >= steady_from_ms,
    clock_off_ms: () => clock_off_ms,
    async stop() {
      stopping.abort();
      await beats;
      // If the database is unreachable, the lease expires by itself.
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

/** Time of another clock, and the times of this process before and after reading it. */
interface ClockReading {
  readonly asked_ms: number;
  readonly received_ms: number;
  readonly theirs_ms: number;
}

/** Minimum difference between both clocks, because the other time was read at some moment between the two times of this process. */
export function clockOff({ asked_ms, received_ms, theirs_ms }: ClockReading): number {
  return Math.max(0, asked_ms - theirs_ms, theirs_ms - received_ms);
}
