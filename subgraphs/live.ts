import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { Refusal } from '../schema/errors.ts';
import type { Database } from './database.ts';

/**
 * Wake-ups across processes: Postgres NOTIFY carries (book, position) and nothing else, the ledger holds the facts.
 */
export interface Live {
  /**
   * Calls `wake` with the newest position whenever book `agent_id` moved, in any process, and once after every
   * reconnect (then with null: read the ledger). Resolves when LISTEN is in force; the result stops it.
   */
  watch(agent_id: number, wake: Wake): Promise<() => void>;
  close(): Promise<void>;
}

export type Wake = (position: number | null) => void;

/** The channel on which the ledger sends `<agent_id>:<position>` in the transaction of the event. */
export const BOOK_CHANNEL = 'book_event';

const RETRY_MS_FIRST = 100;
const RETRY_MS_MAX = 5_000;
/** A peer that vanished sends no FIN: without this the connection would be listened to for ever. */
const HEARTBEAT_MS = 15_000;
const HEARTBEAT_TIMEOUT_MS = 5_000;

/** One LISTEN connection per process, opened by the first watcher and reopened when it is lost. */
export function openLive(database: Pick<Database, 'connect'>): Live {
  return new PostgresLive(database);
}

class PostgresLive implements Live {
  readonly #database: Pick<Database, 'connect'>;
  readonly #watchers = new Map<number, Set<Wake>>();
  readonly #ended = new AbortController();
  #listening: Promise<void> | null = null;
  #client: pg.Client | null = null;

  constructor(database: Pick<Database, 'connect'>) {
    this.#database = database;
  }

  async watch(agent_id: number, wake: Wake): Promise<() => void> {
    const stop = this.#add(agent_id, wake);
    try {
      this.#listening ??= this.#listen();
      await this.#listening;
      return stop;
    } catch (error) {
      stop();
      throw error;
    }
  }

  async close(): Promise<void> {
    const client = this.#client;
    this.#client = null;
    this.#ended.abort();
    this.#watchers.clear();
    await client?.end();
  }

  #add(agent_id: number, wake: Wake): () => void {
    const wakes = this.#watchers.get(agent_id) ?? new Set();
    this.#watchers.set(agent_id, wakes.add(wake));
    return () => {
      wakes.delete(wake);
      if (wakes.size === 0 && this.#watchers.get(agent_id) === wakes) this.#watchers.delete(agent_id);
    };
  }

  /** Tries until it listens. @throws Refusal once closed. */
  async #listen(): Promise<void> {
    for (let pause_ms = RETRY_MS_FIRST; !this.#ended.signal.aborted; pause_ms = Math.min(pause_ms * 2, RETRY_MS_MAX)) {
      try {
        return await this.#connect();
      } catch {
        await sleep(pause_ms, null, { signal: this.#ended.signal }).catch(() => {});
      }
    }
    throw new Refusal('unavailable');
  }

  async #connect(): Promise<void> {
    const client = await this.#database.connect();
    try {
      client.on('notification', ({ payload }) => this.#notified(payload ?? ''));
      await client.query(`listen ${BOOK_CHANNEL}`);
      this.#ended.signal.throwIfAborted();
    } catch (error) {
      await client.end();
      throw error;
    }
    this.#client = client;
    const heartbeat = setInterval(() => void this.#probe(client), HEARTBEAT_MS).unref();
    client.once('end', () => {
      clearInterval(heartbeat);
      this.#lost(client);
    });
  }

  async #probe(client: pg.Client): Promise<void> {
    const probe = { text: 'select 1', query_timeout: HEARTBEAT_TIMEOUT_MS };
    await client.query(probe).catch(() => {
      this.#lost(client);
      return client.end();
    });
  }

  /** What was sent while nobody listened is gone: after the new LISTEN every watcher reads its ledger. */
  #lost(client: pg.Client): void {
    if (this.#client !== client) return;
    this.#client = null;
    this.#listening = this.#listen().then(() => {
      for (const wakes of this.#watchers.values()) for (const wake of wakes) wake(null);
    });
    // Watchers to come await it; with none, closing must not be an unhandled rejection.
    this.#listening.catch(() => {});
  }

  #notified(payload: string): void {
    const [agent_id, position] = payload.split(':').map(Number);
    if (agent_id === undefined || position === undefined) return;
    for (const wake of this.#watchers.get(agent_id) ?? []) wake(Number.isSafeInteger(position) ? position : null);
  }
}
