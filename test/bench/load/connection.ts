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

/** Where the body of an answer begins, and its length if the head says it. */
interface Head {
  readonly text: string;
  readonly body_at: number;
  readonly body_bytes: number | null;
}

/**
 * One HTTP/1.1 connection that implements only what the bench needs. A full HTTP client costs as much CPU as the servers, so on few cores
 * the client would be measured.
 */
export class Connection {
  readonly #socket: Socket;
  #received: Buffer[] = [];
  #received_bytes = 0;
  #head: Head | null = null;
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
    this.#received.push(chunk);
    this.#received_bytes += chunk.length;
    if (this.#head === null) {
      const received = Buffer.concat(this.#received);
      this.#received = [received];
      this.#head = headOf(received);
      if (this.#head === null) return;
    }
    const { text: head, body_at, body_bytes } = this.#head;
    if (this.#received_bytes > body_at) this.#body_began_ms ??= performance.now();
    if (body_bytes === null ? !this.#hasLastChunk() : this.#received_bytes < body_at + body_bytes) return;
    const received = this.#received;
    const answer = {
      status: Number(head.slice(9, 12)),
      head,
      // A load that reads no body does not pay for its decoding.
      get body() {
        return Buffer.concat(received).toString('utf8', body_at);
      },
      body_began_ms: this.#body_began_ms ?? performance.now(),
    };
    this.#received = [];
    this.#received_bytes = 0;
    this.#head = null;
    this.#body_began_ms = null;
    const settle = this.#settle;
    this.#settle = null;
    settle?.resolve(answer);
  }

  /** RFC 9112 7.1: a body without a length ends with an empty chunk. */
  #hasLastChunk(): boolean {
    const received = Buffer.concat(this.#received);
    this.#received = [received];
    return received.subarray(-7).toString('latin1') === '\r\n0\r\n\r\n';
  }
}

/** Null while a part of it is still to come. */
function headOf(received: Buffer): Head | null {
  const head_end = received.indexOf('\r\n\r\n');
  if (head_end < 0) return null;
  const text = received.toString('latin1', 0, head_end);
  const length = /\r\ncontent-length: (\d+)/i.exec(text)?.[1];
  return { text, body_at: head_end + 4, body_bytes: length === undefined ? null : Number(length) };
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
