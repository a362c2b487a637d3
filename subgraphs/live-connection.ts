import type pg from 'pg';
import type { Database } from './database.ts';

/**
 * Pause between echoes. A server that has vanished sends no FIN, so without echoes the process would listen to a dead connection for ever.
 */
const HEARTBEAT_MS = 15_000;
const ANSWER_MS_MAX = 5_000;

/** Name of the connection in pg_stat_activity. */
export const LIVE_APPLICATION = 'live';

export interface ConnectionEvents {
  readonly channels: readonly string[];
  receive(channel: string, payload: string): void;
  /** Called once, when a connection on which LISTEN was in force breaks, does not answer or is ended. */
  onLost(connection: LiveConnection): void;
}

interface Echo {
  resolve(): void;
  reject(fault: Error): void;
}

/** One connection that listens, and can confirm that it has received all earlier notifications. */
export class LiveConnection {
  readonly #client: pg.Client;
  readonly #echo_channel: string;
  readonly #events: ConnectionEvents;
  readonly #heartbeat: NodeJS.Timeout;
  readonly #echoes = new Map<string, Echo>();
  #spoken = 0;
  #lost = false;

  private constructor(client: pg.Client, echo_channel: string, hearing: ConnectionEvents) {
    this.#client = client;
    this.#echo_channel = echo_channel;
    this.#events = hearing;
    this.#heartbeat = setInterval(() => void this.echo().catch(() => {}), HEARTBEAT_MS).unref();
    client.on('notification', ({ channel, payload = '' }) => this.#receive(channel, payload));
    client.once('end', () => this.#lose());
  }

  /** Resolves when LISTEN is in force. */
  static async open(database: Pick<Database, 'connect'>, hearing: ConnectionEvents): Promise<LiveConnection> {
    const client = await database.connect();
    try {
      const text = `select pg_backend_pid() as pid, set_config('application_name', '${LIVE_APPLICATION}', false)`;
      const { rows } = await client.query<{ pid: number }>(withTimeout(text));
      const echo_channel = `echo_${rows[0]?.pid}`;
      const listen = [...hearing.channels, echo_channel].map(channel => `listen ${channel}`);
      await client.query(withTimeout(listen.join('; ')));
      return new LiveConnection(client, echo_channel, hearing);
    } catch (error) {
      await client.end();
      throw error;
    }
  }

  /**
   * Resolves when all notifications that were committed before the call have been received. Notifications arrive in order of commit, so the
   * connection sends one to itself, which comes after them. If this one does not arrive in time, the promise rejects and the connection is
   * ended.
   */
  async echo(): Promise<void> {
    const word = String(++this.#spoken);
    let late: NodeJS.Timeout | undefined;
    try {
      await new Promise<void>((resolve, reject) => {
        late = setTimeout(() => reject(new Error('no answer')), ANSWER_MS_MAX);
        this.#echoes.set(word, { resolve, reject });
        const speak = { name: 'echo', text: 'select pg_notify($1, $2)', values: [this.#echo_channel, word] };
        this.#client.query(speak).catch(reject);
      });
    } catch (error) {
      await this.end();
      throw error;
    } finally {
      clearTimeout(late);
      this.#echoes.delete(word);
    }
  }

  async end(): Promise<void> {
    this.#lose();
    await this.#client.end();
  }

  #receive(channel: string, payload: string): void {
    if (channel !== this.#echo_channel) this.#events.receive(channel, payload);
    else this.#echoes.get(payload)?.resolve();
  }

  #lose(): void {
    if (this.#lost) return;
    this.#lost = true;
    clearInterval(this.#heartbeat);
    for (const echo of this.#echoes.values()) echo.reject(new Error('the connection was lost'));
    this.#events.onLost(this);
  }
}

function withTimeout(text: string): { text: string; query_timeout: number } {
  return { text, query_timeout: ANSWER_MS_MAX };
}
