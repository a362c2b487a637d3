import { setTimeout as sleep } from 'node:timers/promises';
import { Refusal } from '../schema/errors.ts';
import { shareNextRun } from './coalesce.ts';
import type { Database } from './database.ts';
import {
  BOARD_CHANNEL,
  BOOK_CHANNEL,
  CANCELED_CHANNEL,
  type CancelWatcher,
  LOG_CHANNEL,
  SESSION_CHANNEL,
  TREE_CHANNEL,
} from './live-channels.ts';
import { LiveConnection } from './live-connection.ts';

/** Wake-ups across processes. Postgres NOTIFY carries only a name and a position; the facts are read from the tables. */
export interface Live {
  /**
   * Calls `wake` with the newest position after each event of the book of `agent_id`, in any process. After every reconnect it calls `wake`
   * once with null, and the ledger must be read. Resolves when LISTEN is in force; the result stops the calls.
   */
  watch(agent_id: number, wake: Wake): Promise<() => void>;
  /** Notifies `watcher` of every session that ends, in any process. Resolves when LISTEN is in force; the result stops the calls. */
  watchSessions(watcher: SessionWatcher): Promise<() => void>;
  /**
   * Resolves when all notices that were committed before the call have been delivered. Postgres delivers them in order of commit, so a
   * notice that this process sends to itself comes after them. Waits while the connection is down. @throws Refusal once closed.
   */
  catchUp(): Promise<void>;
  close(): Promise<void>;
}

/** Notices of the receipt log, for the code that appends to it. */
export interface LiveLog {
  /**
   * Calls `watcher` with every notice of the receipt log, from any process. After every reconnect it calls `watcher` with null, and the log
   * must be read again. Resolves when LISTEN is in force; the result stops the calls.
   */
  watchLog(watcher: LogWatcher): Promise<() => void>;
}

/** Notices of the board. */
export interface LiveBoard {
  /** Like `watch`, for the events of the board. */
  watchBoard(wake: Wake): Promise<() => void>;
}

/** Notices of delegated sessions. */
export interface LiveTrees {
  /** Like `watch`, for the payments that count against one session. `wake` is also called with null when the session is revoked. */
  watchTree(delegation_hash: string, wake: Wake): Promise<() => void>;
}

/** Notices of tasks, for the code that works on them. */
export interface LiveTasks {
  /**
   * Notifies `watcher` of every task that its buyer cancels, in any process. Resolves when LISTEN is in force; the result stops the calls.
   */
  watchCanceled(watcher: CancelWatcher): Promise<() => void>;
}

/** State of the connection, for readiness checks. */
export interface LiveState {
  /** False until LISTEN is in force, and while the connection is lost. New rows and ended sessions are then noticed late. */
  readonly listens: boolean;
}

/** Reports to an operator, once each time the connection is lost and restored. */
export interface LiveConnectionReport {
  onLost(fault: unknown): void;
  onRestored(): void;
}

export type Wake = (position: number | null) => void;

export type LogWatcher = (notice: string | null) => void;

export interface SessionWatcher {
  /** Called with the agent whose session ended. Called with null once after every reconnect: all sessions must be checked. */
  onEnded(agent_id: number | null): void;
  /** Called when the connection is lost. Notices are missed from then on, until `onEnded(null)`. */
  onLost(): void;
}

const RETRY_MS_FIRST = 100;
const RETRY_MS_MAX = 2_000;

/** One LISTEN connection per process, opened by the first watcher and reopened when it is lost. */
export function openLive(
  database: Pick<Database, 'connect'>,
  report: LiveConnectionReport | null = null,
): Live & LiveLog & LiveBoard & LiveTrees & LiveTasks & LiveState {
  return new PostgresLive(database, report);
}

class PostgresLive implements Live, LiveLog, LiveBoard, LiveTrees, LiveTasks, LiveState {
  readonly #database: Pick<Database, 'connect'>;
  readonly #report: LiveConnectionReport | null;
  #is_lost = false;
  /** Watchers of books by agent id, and of delegated sessions by delegation hash. */
  readonly #watchers = new Map<number | string, Set<Wake>>();
  readonly #sessionWatchers = new Set<SessionWatcher>();
  readonly #logWatchers = new Set<LogWatcher>();
  readonly #boardWatchers = new Set<Wake>();
  readonly #cancelWatchers = new Set<CancelWatcher>();
  readonly #ended = new AbortController();
  readonly catchUp = shareNextRun(() => this.#catchUp());
  readonly #handlers: Readonly<Record<string, (payload: string) => void>> = {
    [BOOK_CHANNEL]: payload => this.#moved(payload, Number),
    [TREE_CHANNEL]: payload => this.#moved(payload, String),
    [BOARD_CHANNEL]: payload => this.#boardMoved(Number(payload)),
    [SESSION_CHANNEL]: payload => this.#sessionEnded(payload),
    [LOG_CHANNEL]: payload => this.#notifyLog(payload),
    [CANCELED_CHANNEL]: payload => this.#canceled(JSON.parse(payload)),
  };
  #listening: Promise<void> | null = null;
  #connection: LiveConnection | null = null;

  constructor(database: Pick<Database, 'connect'>, report: LiveConnectionReport | null) {
    this.#database = database;
    this.#report = report;
  }

  get listens(): boolean {
    return this.#connection !== null;
  }

  watch(agent_id: number, wake: Wake): Promise<() => void> {
    return this.#listened(this.#add(agent_id, wake));
  }

  watchTree(delegation_hash: string, wake: Wake): Promise<() => void> {
    return this.#listened(this.#add(delegation_hash, wake));
  }

  watchSessions(watcher: SessionWatcher): Promise<() => void> {
    this.#sessionWatchers.add(watcher);
    return this.#listened(() => void this.#sessionWatchers.delete(watcher));
  }

  watchLog(watcher: LogWatcher): Promise<() => void> {
    this.#logWatchers.add(watcher);
    return this.#listened(() => void this.#logWatchers.delete(watcher));
  }

  watchBoard(wake: Wake): Promise<() => void> {
    this.#boardWatchers.add(wake);
    return this.#listened(() => void this.#boardWatchers.delete(wake));
  }

  watchCanceled(watcher: CancelWatcher): Promise<() => void> {
    this.#cancelWatchers.add(watcher);
    return this.#listened(() => void this.#cancelWatchers.delete(watcher));
  }

  async close(): Promise<void> {
    const connection = this.#connection;
    this.#connection = null;
    this.#ended.abort();
    const others = [this.#sessionWatchers, this.#logWatchers, this.#boardWatchers, this.#cancelWatchers];
    for (const watchers of [this.#watchers, ...others]) watchers.clear();
    await connection?.end();
  }

  #add(of: number | string, wake: Wake): () => void {
    const wakes = this.#watchers.get(of) ?? new Set();
    this.#watchers.set(of, wakes.add(wake));
    return () => {
      wakes.delete(wake);
      if (wakes.size === 0 && this.#watchers.get(of) === wakes) this.#watchers.delete(of);
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

  /** Retries until LISTEN is in force. @throws Refusal once closed. */
  async #listen(): Promise<void> {
    for (let pause_ms = RETRY_MS_FIRST; !this.#ended.signal.aborted; pause_ms = Math.min(pause_ms * 2, RETRY_MS_MAX)) {
      try {
        await this.#connect();
        if (this.#is_lost) this.#report?.onRestored();
        this.#is_lost = false;
        return;
      } catch (fault) {
        if (!this.#is_lost && !this.#ended.signal.aborted) this.#report?.onLost(fault);
        this.#is_lost = true;
        await sleep(pause_ms, null, { signal: this.#ended.signal }).catch(() => {});
      }
    }
    throw new Refusal('unavailable');
  }

  async #connect(): Promise<void> {
    const connection = await LiveConnection.open(this.#database, {
      channels: Object.keys(this.#handlers),
      receive: (channel, payload) => this.#handlers[channel]?.(payload),
      onLost: lost => this.#lost(lost),
    });
    if (this.#ended.signal.aborted) await connection.end();
    this.#ended.signal.throwIfAborted();
    this.#connection = connection;
  }

  async #catchUp(): Promise<void> {
    for (;;) {
      this.#listening ??= this.#listen();
      await this.#listening;
      if (!this.#connection) throw new Refusal('unavailable');
      try {
        return await this.#connection.echo();
      } catch {
        // The connection was lost: the loop waits for the next one.
      }
    }
  }

  /**
   * Notices that are sent while the connection is lost never arrive. After the new LISTEN, every watcher is called with null, and reads on
   * its own.
   */
  #lost(connection: LiveConnection): void {
    if (this.#connection !== connection) return;
    this.#connection = null;
    for (const watcher of this.#sessionWatchers) watcher.onLost();
    this.#listening = this.#listen().then(() => {
      for (const wakes of this.#watchers.values()) for (const wake of wakes) wake(null);
      for (const watcher of this.#sessionWatchers) watcher.onEnded(null);
      this.#notifyLog(null);
      this.#boardMoved(null);
      this.#canceled(null);
    });
    // Later watchers await this promise. If there are none, closing must not cause an unhandled rejection.
    this.#listening.catch(() => {});
  }

  /** The payload is `<of>:<position>`. Without a position, watchers are called with null and read on their own. */
  #moved(payload: string, named: (of: string) => number | string): void {
    const [of = '', position] = payload.split(':');
    const newest = Number(position);
    for (const wake of this.#watchers.get(named(of)) ?? []) wake(Number.isSafeInteger(newest) ? newest : null);
  }

  #boardMoved(position: number | null): void {
    for (const wake of this.#boardWatchers) wake(Number.isSafeInteger(position) ? position : null);
  }

  #notifyLog(notice: string | null): void {
    for (const watcher of this.#logWatchers) watcher(notice);
  }

  readonly #canceled: CancelWatcher = notice => {
    for (const watcher of this.#cancelWatchers) watcher(notice);
  };

  #sessionEnded(payload: string): void {
    const agent_id = Number(payload);
    if (!Number.isSafeInteger(agent_id)) return;
    for (const watcher of this.#sessionWatchers) watcher.onEnded(agent_id);
  }
}
