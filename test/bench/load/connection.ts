import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

const ANSWER_MS_MAX = 30_000;

export interface Answer {
  readonly status: number;
  readonly head: string;
  readonly body: string;
  /** Time of the first byte of the body on the clock of `performance`, in milliseconds. */
  readonly body_began_ms: number;
}

interface Whole {
  readonly head: string;
  readonly body_at: number;
}

/**
 * One HTTP/1.1 connection that implements only what the bench needs. A full HTTP client costs as much CPU as the servers, so on few cores
 * the client would be measured.
 */
export class Connection {
  readonly #socket: Socket;
  #received: Buffer = Buffer.alloc(0);
  #body_began_ms: number | null = null;
  #settle: { resolve(answer: Answer): void; reject(fault: Error): void } | null = null;

  /** Opens a connection. `from` is a local address to connect from, if it must not be the default one. */
  static async open(url: string, from?: string): Promise<Connection> {
    const { hostname, port } = new URL(url);
    const socket = connect({ host: hostname, port: Number(port), noDelay: true, ...(from && { localAddress: from }) });
    await once(socket, 'connect');
    return new Connection(socket);
  }

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.setTimeout(ANSWER_MS_MAX, () => socket.destroy(new Error('no answer in time')));
    socket.on('data', chunk => this.#receive(chunk));
    socket.on('error', fault => this.#settle?.reject(fault));
    socket.on('close', () => this.#settle?.reject(new Error('the server hung up')));
  }

  /** Sends a request and resolves with its answer. Only one may be in progress. */
  exchange(request: Buffer): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.#settle = { resolve, reject };
      this.#socket.write(request);
    });
  }

  close(): void {
    this.#settle = null;
    this.#socket.destroy();
  }

  #receive(chunk: Buffer): void {
    this.#received = this.#received.length === 0 ? chunk : Buffer.concat([this.#received, chunk]);
    this.#body_began_ms ??= hasBody(this.#received) ? performance.now() : null;
    const whole = wholeAnswer(this.#received);
    if (!whole) return;
    const { head, body_at } = whole;
    const body_began_ms = this.#body_began_ms ?? performance.now();
    const body = this.#received.toString('utf8', body_at);
    const answer = { status: Number(head.slice(9, 12)), head, body, body_began_ms };
    this.#received = Buffer.alloc(0);
    this.#body_began_ms = null;
    const settle = this.#settle;
    this.#settle = null;
    settle?.resolve(answer);
  }
}

function hasBody(received: Buffer): boolean {
  const head_end = received.indexOf('\r\n\r\n');
  return head_end >= 0 && received.length > head_end + 4;
}

/** The complete answer, by its length or its last chunk (RFC 9112 section 6.3). Null until all of it has arrived. */
function wholeAnswer(received: Buffer): Whole | null {
  const head_end = received.indexOf('\r\n\r\n');
  if (head_end < 0) return null;
  const head = received.toString('latin1', 0, head_end);
  const body_at = head_end + 4;
  const length = /\r\ncontent-length: (\d+)/i.exec(head)?.[1];
  const complete =
    length === undefined
      ? received.subarray(-7).toString('latin1') === '\r\n0\r\n\r\n'
      : received.length >= body_at + Number(length);
  return complete ? { head, body_at } : null;
}

export interface Request {
  readonly method: string;
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** The bytes of a request, which can be sent any number of times. */
export function bytesOf({ method, url, headers = {}, body = '' }: Request): Buffer {
  const { host, pathname, search } = new URL(url);
  const lines = Object.entries({
    host,
    ...headers,
    ...(body && { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(body)) }),
  }).map(([name, value]) => `${name}: ${value}`);
  return Buffer.from([`${method} ${pathname}${search} HTTP/1.1`, ...lines, '', body].join('\r\n'));
}
