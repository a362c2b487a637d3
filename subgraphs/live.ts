import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { Refusal } from '../schema/errors.ts';
import type { Database } from './database.ts';

/**
 * Wake-ups across processes: Postgres NOTIFY carries a name (and a position) and nothing else, the tables hold the facts.
 */
export interface Live {
  /**
   * Calls `wake` with the newest position whenever book `agent_id` moved, in any process, and once after every
   * reconnect (then with null: read the ledger). Resolves when LISTEN is in force; the result stops it.
   */
  watch(agent_id: number, wake: Wake): Promise<() => void>;
  /**
   * Calls `ended` with every agent whose session ended, in any process, and once after every reconnect (then with null:
   * look at all of them). Resolves when LISTEN is in force; the result stops it.
   */
  watchSessions(ended: SessionEnded): Promise<() => void>;
  close(): Promise<void>;
}

export type Wake = (position: number | null) => void;
export type SessionEnded = (agent_id: number | null) => void;

/** The channel on which the ledger sends `<agent_id>:<position>` in the transaction of the event. */
export const BOOK_CHANNEL = 'book_event';
/** The channel on which `<agent_id>` is sent in the transaction that ends its session. */
export const SESSION_CHANNEL = 'session_end';

const RETRY_MS_FIRST = 100;
const RETRY_MS_MAX = 2_000;
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
  readonly #sessionWatchers = new Set<SessionEnded>();
  readonly #ended = new AbortController();
  #listening: Promise<void> | null = null;
  #client: pg.Client | null = null;

  constructor(database: Pick<Database, 'connect'>) {
    this.#database = database;
  }

  watch(agent_id: number, wake: Wake): Promise<() => void> {
    return this.#listened(this.#add(agent_id, wake));
  }

  watchSessions(ended: SessionEnded): Promise<() => void> {
    this.#sessionWatchers.add(ended);
    return this.#listened(() => void this.#sessionWatchers.delete(ended));
  }

  async close(): Promise<void> {
    const client = this.#client;
    this.#client = null;
    this.#ended.abort();
    this.#watchers.clear();
    this.#sessionWatchers.clear();
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

  async #listened(stop: () => void): Promise<() => void> {
    try {
      this.#listening ??= this.#listen();
      await this.#listening;
      return stop;
    } catch (error) {
      stop();
      throw error;
    }
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
      client.on('notification', ({ channel, payload = '' }) => {
        if (channel === BOOK_CHANNEL) this.#bookMoved(payload);
        else this.#sessionEnded(payload);
      });
      const text = `listen ${BOOK_CHANNEL}; listen ${SESSION_CHANNEL}`;
      const listen = { text, query_timeout: HEARTBEAT_TIMEOUT_MS };
      await client.query(listen);
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

  /** What was sent while nobody listened is gone: after the new LISTEN every watcher reads for itself. */
  #lost(client: pg.Client): void {
    if (this.#client !== client) return;
    this.#client = null;
    this.#listening = this.#listen().then(() => {
      for (const wakes of this.#watchers.values()) for (const wake of wakes) wake(null);
      for (const ended of this.#sessionWatchers) ended(null);
    });
    // Watchers to come await it; with none, closing must not be an unhandled rejection.
    this.#listening.catch(() => {});
  }

  #bookMoved(payload: string): void {
    const [agent_id, position] = payload.split(':').map(Number);
    if (agent_id === undefined || position === undefined) return;
    for (const wake of this.#watchers.get(agent_id) ?? []) wake(Number.isSafeInteger(position) ? position : null);
  }

  #sessionEnded(payload: string): void {
    const agent_id = Number(payload);
    if (!Number.isSafeInteger(agent_id)) return;
    for (const ended of this.#sessionWatchers) ended(agent_id);
  }
}
