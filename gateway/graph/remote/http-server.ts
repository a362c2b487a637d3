import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { doorServerOptions } from '../../../rest-compat/http/server-options.ts';

export interface HttpServer {
  /** Port 0 takes any that is free. */
  listen(host: string, port: number): Promise<void>;
  /** Takes no new connection, lets what runs come to its end. */
  close(): Promise<void>;
}

/** Longer than a gateway keeps a connection that it does not use. */
const KEEP_ALIVE_MS = 60_000;

export interface HttpHandler {
  answer(request: IncomingMessage, response: ServerResponse): Promise<void>;
  /** Ends what would not end by itself. */
  stop(): void;
}

/** Node's own server with the bounds that our doors have: between our own processes nothing else is needed. */
export function openHttpServer({ answer, stop }: HttpHandler): HttpServer {
  const { http, requestTimeout, clientErrorHandler } = doorServerOptions;
  const unused = new Set<Socket>();
  let closing = false;
  const server = createServer({ ...http, requestTimeout, keepAliveTimeout: KEEP_ALIVE_MS }, (request, response) => {
    unused.delete(request.socket);
    if (closing) response.setHeader('connection', 'close');
    response.once('close', () => closing && setImmediate(() => server.closeIdleConnections()));
    void answer(request, response);
  });
  server.on('clientError', clientErrorHandler);
  // A connection over which nothing was asked yet counts as busy: a closing server would wait for it for ever.
  server.on('connection', socket => {
    unused.add(socket);
    socket.once('close', () => unused.delete(socket));
  });
  return {
    listen: (host, port) =>
      new Promise((resolve, reject) => {
        server.once('error', reject).listen(port, host, () => resolve());
      }),
    async close() {
      closing = true;
      const closed = new Promise<void>(resolve => server.close(() => resolve()));
      stop();
      for (const socket of unused) socket.destroy();
      await closed;
    },
  };
}
