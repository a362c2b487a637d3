import type { Server as HttpServer, IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { problem } from '../../rest-compat/problem.ts';
import { holderOf } from '../../schema/address-holder.ts';
import { limits } from '../../schema/limits.ts';

/* Limits of connections and their requests, and the closing of unused and idle connections when a server stops. */

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/**
 * Tracks the last request of each connection. A stopping server waits for every connection that is not idle. Node counts a connection
 * without any request as busy, and stops timing out incomplete requests.
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

  /** Closes connections that have sent no request yet. Later upgrades to a WebSocket are closed too. */
  dropUnused(): void {
    this.#closing = true;
    for (const [socket, exchange] of this.#open) if (exchange === null) socket.destroy();
  }

  /** Closes connections without a response in progress: their request is incomplete, or they have sent no next one. */
  dropUnasked(): void {
    for (const [socket, exchange] of this.#open) {
      const answering = exchange?.request.complete && !exchange.response.writableEnded;
      if (!answering) socket.destroy();
    }
  }
}

/**
 * Limits the connections of this process, in total and per address. Excess connections are closed at once, because an error response would
 * cost what the limit saves.
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
 * Limits pipelined requests (RFC 9112 section 9.3.2), because thousands could come in one packet and would all run at once. No known client
 * uses them. A connection with more requests in progress is closed.
 */
export function boundPipelines(app: FastifyInstance): void {
  const underway = new WeakMap<Socket, number>();
  app.addHook('onRequest', (request, reply, done) => {
    const { socket } = request.raw;
    const count = (underway.get(socket) ?? 0) + 1;
    underway.set(socket, count);
    if (count <= limits.requests_per_connection_underway_max && !socket.destroyed) return done();
    socket.destroy();
    // Requests that Node has parsed from the same packet still arrive here.
    reply.hijack();
  });
  app.addHook('onResponse', ({ raw: { socket } }, _reply, done) => {
    underway.set(socket, (underway.get(socket) ?? 1) - 1);
    done();
  });
}

/**
 * Answers a request with two Host lines with 400 (RFC 9112 section 3.2). Node takes the first line, while a proxy may have used the second.
 */
export function requireOneHost(app: FastifyInstance): void {
  app.addHook('onRequest', (request, reply, done) => {
    if (!namesHosts(request.raw)) return done();
    const { status, headers, body } = problem({
      code: 'invalid_request',
      message: 'The request has two Host headers. Send one.',
    });
    reply
      .code(status)
      .headers({ ...headers, 'x-content-type-options': 'nosniff', connection: 'close' })
      .send(body);
  });
}

/** Whether a request has more than one Host line. Node itself refuses a request without one. */
export function namesHosts({ rawHeaders }: Pick<IncomingMessage, 'rawHeaders'>): boolean {
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) if (/^host$/i.test(rawHeaders[at] ?? '')) hosts++;
  return hosts > 1;
}
