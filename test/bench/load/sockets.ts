import { once } from 'node:events';
import WebSocket from 'ws';

const OPENED_AT_ONCE = 50;
const DELIVERY_MS_MAX = 60_000;

export interface SubscribersOptions {
  readonly url: string;
  readonly sockets: number;
  /** The payload of connection_init. */
  readonly shown: object;
  readonly query: string;
  readonly variables: object;
}

/** Sockets with one subscription each (graphql-transport-ws), and the number of events that they have received. */
export class Subscribers {
  readonly #sockets: WebSocket[] = [];
  #delivered = 0;
  #awaited: { count: number; resolve(): void; reject(fault: Error): void } | null = null;
  #fault: Error | null = null;

  static async open({ sockets, ...each }: SubscribersOptions): Promise<Subscribers> {
    const subscribers = new Subscribers();
    for (let opened = 0; opened < sockets; opened += OPENED_AT_ONCE) {
      const here = Math.min(OPENED_AT_ONCE, sockets - opened);
      await Promise.all(Array.from({ length: here }, () => subscribers.#subscribe(each)));
    }
    return subscribers;
  }

  get delivered(): number {
    return this.#delivered;
  }

  /** Resolves once all sockets together have received that many events since they were opened. */
  async untilDelivered(count: number): Promise<void> {
    if (this.#fault) throw this.#fault;
    if (this.#delivered >= count) return;
    const late = setTimeout(() => this.#fail(new Error(`${this.#delivered} of ${count} deliveries`)), DELIVERY_MS_MAX);
    try {
      await new Promise<void>((resolve, reject) => {
        this.#awaited = { count, resolve, reject };
      });
    } finally {
      clearTimeout(late);
      this.#awaited = null;
    }
  }

  close(): void {
    for (const socket of this.#sockets) socket.terminate();
  }

  async #subscribe({ url, shown, query, variables }: Omit<SubscribersOptions, 'sockets'>): Promise<void> {
    const socket = new WebSocket(`${url.replace(/^http/, 'ws')}/graphql`, 'graphql-transport-ws', {
      perMessageDeflate: false,
    });
    this.#sockets.push(socket);
    await once(socket, 'open');
    socket.send(JSON.stringify({ type: 'connection_init', payload: shown }));
    await once(socket, 'message');
    socket.on('message', data => this.#hear(data as Buffer));
    socket.on('error', fault => this.#fail(fault));
    socket.send(JSON.stringify({ type: 'subscribe', id: '1', payload: { query, variables } }));
  }

  /** Counts an event without parsing it, because parsing a thousand copies would cost more than sending them. */
  #hear(data: Buffer): void {
    const start = data.toString('latin1', 0, 60);
    if (start.includes('"next"') && !start.includes('"errors"')) this.#delivered++;
    else this.#fail(new Error(data.toString()));
    if (this.#awaited && this.#delivered >= this.#awaited.count) this.#awaited.resolve();
  }

  #fail(fault: Error): void {
    this.#fault ??= fault;
    this.#awaited?.reject(fault);
  }
}
