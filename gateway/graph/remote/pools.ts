import type { Readable } from 'node:stream';
import { Pool } from 'undici';
import { limits } from '../../../schema/limits.ts';
import { SILENCE_MS_MAX } from './event-stream.ts';

/**
 * Pools of connections to one subgraph, separated by how long their calls take. A slow hub delays paid calls for a minute, a subscriber
 * holds a connection for a day, and neither may delay a reader.
 */
const pools = {
  reads: { path: '/graphql', connections: 64, open_max: 4_096, answer_ms_max: 15_000, silence_ms_max: 15_000 },
  /** `answer_ms_max` is longer than all hubs and a settlement take together. A call that waits longer waits for a process that hangs. */
  paid: { path: '/graphql', connections: 1_024, open_max: 4_096, answer_ms_max: 300_000, silence_ms_max: 30_000 },
  events: {
    path: '/graphql',
    connections: 8_192,
    open_max: 8_192,
    answer_ms_max: 300_000,
    silence_ms_max: SILENCE_MS_MAX,
  },
  /** Files for paid calls. Their number is limited, because each takes memory on both sides. */
  uploads: { path: '/uploads', connections: 32, open_max: 1_024, answer_ms_max: 15_000, silence_ms_max: 15_000 },
  /** Availability checks, which must not wait for other calls. */
  looks: { path: '/graphql', connections: 1, open_max: 2, answer_ms_max: 3_000, silence_ms_max: 3_000 },
} as const;
export type PoolName = keyof typeof pools;

const CONNECT_MS = 2_000;

export interface Message {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array;
  /** Aborted when no caller waits for the response. */
  readonly left?: AbortSignal | undefined;
}

export type PostResult =
  | { readonly kind: 'answered'; readonly status: number; readonly media: string; readonly body: Readable & TextBody }
  /** There is no connection, or there are too many calls. The subgraph cannot have received the message. */
  | { readonly kind: 'unsent'; readonly cause: unknown }
  /** There is no response. The message may have had any effect. */
  | { readonly kind: 'silent'; readonly cause: unknown };

interface TextBody {
  text(): Promise<string>;
}

/** Sends messages to one subgraph, over a separate pool for each purpose. Never throws, and never sends a message twice. */
export class Pools {
  readonly #base: string;
  readonly #pools: Readonly<Record<PoolName, Pool>>;
  readonly #open: Record<PoolName, number> = { reads: 0, paid: 0, events: 0, uploads: 0, looks: 0 };

  constructor(url: string) {
    const { origin, pathname } = new URL(url);
    this.#base = pathname.replace(/\/+$/, '');
    const pool = (name: PoolName) =>
      new Pool(origin, {
        connections: pools[name].connections,
        connect: { timeout: CONNECT_MS },
        headersTimeout: pools[name].answer_ms_max,
        bodyTimeout: pools[name].silence_ms_max,
        // A stream may have any length. The size of each event is limited where it is read.
        maxResponseSize: name === 'events' ? -1 : limits.subgraph_answer_bytes_max,
      });
    this.#pools = {
      reads: pool('reads'),
      paid: pool('paid'),
      events: pool('events'),
      uploads: pool('uploads'),
      looks: pool('looks'),
    };
  }

  /** Sends a message. The caller must read the body of the response to its end, or destroy it. */
  async post(name: PoolName, { headers, body, left }: Message): Promise<PostResult> {
    if (this.#open[name] >= pools[name].open_max)
      return { kind: 'unsent', cause: new Error('too many calls are open') };
    this.#open[name] += 1;
    const hang_up = new AbortController();
    const leave = () => hang_up.abort();
    left?.addEventListener('abort', leave);
    if (left?.aborted) leave();
    try {
      const request = {
        method: 'POST',
        path: this.#base + pools[name].path,
        headers,
        body,
        signal: left ? hang_up.signal : null,
      } as const;
      const answer = await this.#pools[name].request(request);
      // A disconnected body emits an error, possibly when nothing reads it any longer, which would end the process without a listener.
      answer.body.on('error', () => {}).once('close', () => this.#closed(name));
      return { kind: 'answered', status: answer.statusCode, media: mediaOf(answer.headers), body: answer.body };
    } catch (cause) {
      this.#closed(name);
      return { kind: isUnsent(cause) ? 'unsent' : 'silent', cause };
    } finally {
      // The reader of the body ends the connection from now on.
      left?.removeEventListener('abort', leave);
    }
  }

  /** Closes all connections. Calls in progress are interrupted. */
  async close(): Promise<void> {
    await Promise.all(Object.values(this.#pools).map(pool => pool.destroy()));
  }

  #closed(name: PoolName): void {
    this.#open[name] -= 1;
  }
}

function mediaOf(headers: Readonly<Record<string, string | string[] | undefined>>): string {
  return String(headers['content-type']).split(';')[0] ?? '';
}

/** Error codes of a connection that was not made: nothing listens, the host is unknown, or there is no route. */
const UNSENT = /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT)$/;

/**
 * Whether no connection was made. After a connection was made, an error shows nothing about the effect. If a machine fails during a call,
 * the code can also be that of an unreachable host, but `syscall` shows that a read or a write failed.
 */
export function isUnsent(cause: unknown): boolean {
  if (!(cause instanceof Error) || !('code' in cause)) return false;
  const stood = 'syscall' in cause && /^(read|write)/.test(String(cause.syscall));
  return !stood && UNSENT.test(String(cause.code));
}
