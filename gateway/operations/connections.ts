import type { Server as HttpServer, IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/* Which connections are unused or idle, so that a stop can close those and wait for the others. */

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/**
 * Connections by what was asked last over each. A server that closes waits for every one that is not idle, and Node takes
 * those for busy over which nothing was asked yet; and those that never ask to the end it stops to time out.
 */
export class Connections {
  readonly #open = new Map<Socket, Exchange | null>();
  #closing = false;

  constructor(server: HttpServer) {
    server.on('connection', socket => {
      this.#open.set(socket, null);
      socket.once('close', () => this.#open.delete(socket));
    });
    server.on('request', (request, response) => this.#open.set(request.socket, { request, response }));
    server.on('upgrade', (_request, socket) => {
      this.#open.delete(socket as Socket);
      if (this.#closing) socket.destroy();
    });
  }

  /** Hangs up where nothing was asked yet; what becomes a socket from now on is for nobody to serve. */
  dropUnused(): void {
    this.#closing = true;
    for (const [socket, exchange] of this.#open) if (exchange === null) socket.destroy();
  }

  /** Hangs up where nothing is being answered: the request has not come whole, or the next one has not. */
  dropUnasked(): void {
    for (const [socket, exchange] of this.#open) {
      const answering = exchange?.request.complete && !exchange.response.writableEnded;
      if (!answering) socket.destroy();
    }
  }
}
