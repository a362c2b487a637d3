import { setTimeout as sleep } from 'node:timers/promises';
import { limits } from '../schema/limits.ts';
import { NextRuns } from './coalesce.ts';
import type { Wake } from './live.ts';
import { DatabaseAway } from './outage.ts';

/* Follows events that are numbered without gaps in a table: the events of a book, or those of the board. */

/** Keeps a wake-up that comes while the reader does not wait. Several wake-ups count as one. */
class WakeUp {
  /** Newest position that was notified. */
  #newest: number | null = null;
  /** True after a wake-up without a position, such as after a reconnect: events may have been missed. */
  #unsure = false;
  #closed = false;
  #wake: (() => void) | null = null;

  get closed(): boolean {
    return this.#closed;
  }

  noteEvent(position: number | null): void {
    if (position === null) this.#unsure = true;
    else this.#newest = Math.max(this.#newest ?? 0, position);
    this.#wake?.();
  }

  /** Called before the table is read. Returns the newest position that was notified, or null if notices may have been missed. */
  answer(): number | null {
    const notified = this.#unsure ? null : this.#newest;
    this.#unsure = false;
    return notified;
  }

  /** Resolves when the table may have an event beyond `position`, or when this is closed. */
  async rungBeyond(position: number): Promise<void> {
    while (!this.#closed && !this.#unsure && (this.#newest ?? 0) <= position) {
      await new Promise<void>(resolve => {
        this.#wake = resolve;
      });
    }
  }

  close(): void {
    this.#closed = true;
    this.#wake?.();
  }
}

const AWAY_REST_MS = 1_000;

/**
 * Reads at most `limit` events of one table beyond position `after`, in ascending order. `notified` is the newest position that was
 * notified to the reader, null if unknown: see `shareReads`.
 */
export type ReadEvents<K, E> = (of: K, after: number, limit: number, notified: number | null) => Promise<readonly E[]>;

export interface FeedSource<E> {
  /** Calls `wake` with the newest position after each event, and with null if notices may have been missed. The result stops the calls. */
  watch(wake: Wake): Promise<() => void>;
  read(after: number, limit: number, notified: number | null): Promise<readonly E[]>;
}

/**
 * Iterates without end over the events after position `after`: each event once, in order of position, without gaps. LISTEN is in force
 * before the table is read. A wake-up only causes a read, so lost, late and repeated wake-ups do no harm. At most one page is held in
 * memory, so a slow reader causes later reads. return() ends the iteration, even while it waits.
 */
export function liveFeed<E extends { readonly position: number }>(
  source: FeedSource<E>,
  after: number,
): AsyncIterableIterator<E> {
  const wake_up = new WakeUp();
  const events = follow(source, after, wake_up);
  return {
    next: () => events.next(),
    // A generator's own return() would wait for the next event.
    return() {
      wake_up.close();
      return events.return(undefined);
    },
    throw(error) {
      wake_up.close();
      return events.throw(error);
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}

async function* follow<E extends { readonly position: number }>(
  source: FeedSource<E>,
  after: number,
  wake_up: WakeUp,
): AsyncGenerator<E, undefined> {
  const stop = await source.watch(position => wake_up.noteEvent(position));
  try {
    let position = after;
    while (!wake_up.closed) {
      const notified = wake_up.answer();
      const page = await source.read(position, limits.feed_page_events_max, notified).catch(restIfAway);
      if (page === null) {
        // `answer` has cleared the notice, so the next read must again assume that events were missed.
        wake_up.noteEvent(null);
        continue;
      }
      for (const event of page) {
        if (wake_up.closed) return;
        position = event.position;
        yield event;
      }
      if (page.length < limits.feed_page_events_max) await wake_up.rungBeyond(position);
    }
  } finally {
    stop();
  }
}

/** If the database is away, returns null after a pause, so that the reader notices only a delay. */
async function restIfAway(fault: unknown): Promise<null> {
  if (!(fault instanceof DatabaseAway)) throw fault;
  await sleep(AWAY_REST_MS);
  return null;
}

/**
 * Shares one read among all readers with the same position and the same newest notice. A read that began after the notice sees the event,
 * so a reader that joins it misses nothing. Without a notice (null), the read must begin after the request, so it is shared by `NextRuns`:
 * a thousand readers that reconnect cost two reads.
 */
export function shareReads<K extends number | string, E>(readEvents: ReadEvents<K, E>): ReadEvents<K, E> {
  const running = new Map<string, Promise<readonly E[]>>();
  const afresh = new NextRuns<readonly E[]>();
  return (of, after, limit, notified) => {
    const from = `${of} ${after} ${limit}`;
    if (notified === null) return afresh.share(from, () => readEvents(of, after, limit, null));
    const key = `${from} ${notified}`;
    const known = running.get(key);
    if (known) return known;
    const read = readEvents(of, after, limit, notified).finally(() => running.delete(key));
    running.set(key, read);
    return read;
  };
}
