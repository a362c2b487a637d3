import type { Server as HttpServer, IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { problem } from '../../rest-compat/problem.ts';
import { holderOf } from '../../schema/address-holder.ts';
import { limits } from '../../schema/limits.ts';

/* Bounds on connections and on what comes over them, and which are unused or idle when a server stops. */

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

/**
 * No more connections than this process has room for, and no more of one address than leaves room for others. Whoever
 * comes beyond is hung up on at once: an answer would cost what is being kept.
 */
export function boundConnections(server: HttpServer): void {
  server.maxConnections = limits.connections_max;
  const held = new Map<string, number>();
  server.on('connection', (socket: Socket) => {
    const address = holderOf(socket.remoteAddress ?? '');
    const count = (held.get(address) ?? 0) + 1;
    held.set(address, count);
    socket.once('close', () => {
      const left = (held.get(address) ?? 1) - 1;
      if (left > 0) held.set(address, left);
      else held.delete(address);
    });
    if (count > limits.connections_per_address_max) socket.destroy();
  });
}

/**
 * Requests that come one after another without waiting for answers (RFC 9112 9.3.2) would all run at once, thousands of
 * them out of one packet. No client that we know does so; whoever has more under way on one connection than this loses it.
 */
export function boundPipelines(app: FastifyInstance): void {
  const underway = new WeakMap<Socket, number>();
  app.addHook('onRequest', (request, reply, done) => {
    const { socket } = request.raw;
    const count = (underway.get(socket) ?? 0) + 1;
    underway.set(socket, count);
    if (count <= limits.requests_per_connection_underway_max && !socket.destroyed) return done();
    socket.destroy();
    // What Node has read of the same packet still comes here: it stops here, too.
    reply.hijack();
  });
  app.addHook('onResponse', ({ raw: { socket } }, _reply, done) => {
    underway.set(socket, (underway.get(socket) ?? 1) - 1);
    done();
  });
}

/**
 * RFC 9112 section 3.2: a request with two Host lines is answered with 400. Node takes the first and says nothing, while
 * whoever stands before us may have gone by the second.
 */
export function requireOneHost(app: FastifyInstance): void {
  app.addHook('onRequest', (request, reply, done) => {
    if (!namesHosts(request.raw)) return done();
    const { status, headers, body } = problem({ code: 'invalid_request', message: 'The request names two hosts.' });
    reply
      .code(status)
      .headers({ ...headers, 'x-content-type-options': 'nosniff', connection: 'close' })
      .send(body);
  });
}

/** Whether it names more than one; that it names one Node sees to itself. */
export function namesHosts({ rawHeaders }: Pick<IncomingMessage, 'rawHeaders'>): boolean {
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) if (/^host$/i.test(rawHeaders[at] ?? '')) hosts++;
  return hosts > 1;
}
