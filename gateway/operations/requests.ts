import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import type { Metrics } from './metrics.ts';

/* Counts and logs requests for operators, and adds the Server-Timing header for callers. */

/** Endpoints that probes call every few seconds, so their requests are logged at debug level only. */
export const PROBES: ReadonlySet<string> = new Set(['/livez', '/readyz', '/metrics', '/health']);

/** Label for unknown paths and methods. Callers choose those, and the number of labels must stay limited. */
const OTHER = 'other';
const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** Label in place of a status if the client disconnected before there was one. */
const UNANSWERED = 'none';

/** Counts requests for operators. Each is counted once, by its endpoint, and is one line in the log. */
export class Requests {
  readonly #metrics: Metrics;
  readonly #logger: Logger;
  readonly #doors = new Map<string, string>();
  readonly #underway = new WeakMap<Socket, Map<FastifyRequest, FastifyReply>>();
  #count = 0;

  constructor(metrics: Metrics, logger: Logger) {
    this.#metrics = metrics;
    this.#logger = logger;
    metrics.watch('svc_http_requests_underway', 'Requests under way', [], () => [[{}, this.#count]]);
  }

  observe(app: FastifyInstance): void {
    // If the client disconnects before the response, `onResponse` never runs, so the end of the connection is watched too.
    app.server.on('connection', (socket: Socket) => {
      socket.once('close', () => {
        for (const [request, reply] of this.#underway.get(socket) ?? []) this.#concluded(request, reply);
      });
    });
    app.addHook('onRequest', (request, reply, done) => {
      const { socket } = request.raw;
      const here = this.#underway.get(socket) ?? new Map<FastifyRequest, FastifyReply>();
      this.#underway.set(socket, here.set(request, reply));
      this.#count++;
      done();
    });
    app.addHook('onResponse', (request, reply, done) => {
      this.#concluded(request, reply);
      done();
    });
  }

  /**
   * Counts and logs a request that has ended. URL, headers and body are never logged, because they contain sessions, payments, keys and
   * slice tokens.
   */
  #concluded(request: FastifyRequest, reply: FastifyReply): void {
    if (!this.#underway.get(request.raw.socket)?.delete(request)) return;
    this.#count--;
    const door = this.#doorOf(request.routeOptions.url);
    const method = METHODS.has(request.method) ? request.method : OTHER;
    const { elapsedTime: duration_ms } = reply;
    const status = reply.raw.headersSent ? reply.statusCode : UNANSWERED;
    this.#metrics.requests.observe({ door, method, status }, duration_ms / 1e3);

    const level = PROBES.has(door) ? 'debug' : 'info';
    if (!this.#logger.isLevelEnabled(level)) return;
    const task_id = reply.getHeader('x-svc-task-id');
    this.#logger[level](
      {
        request_id: request.id,
        method,
        endpoint: door,
        status,
        duration_ms: Math.round(duration_ms * 100) / 100,
        ...(task_id === undefined ? {} : { task_id }),
        ...(reply.raw.writableFinished ? {} : { aborted: true }),
      },
      'answered',
    );
  }

  /** Path of a route in the form of the endpoint table. */
  #doorOf(route: string | undefined): string {
    if (route === undefined || route === '/*') return OTHER;
    const known = this.#doors.get(route);
    if (known !== undefined) return known;
    const door = route.replace(/:(\w+)/g, '{$1}');
    this.#doors.set(route, door);
    return door;
  }
}

export const REQUEST_ID = 'x-request-id';

/**
 * A UUID (RFC 9562 §4) or a ULID. Both are shorter than any key, session or signature, which a caller might send in this header by mistake.
 */
const WELL_FORMED = /^(?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-7][0-9A-HJKMNP-TV-Z]{25})$/i;

/** Id of a request: the caller's id if it is well formed, so that both logs have the same one, or else a new one. */
export function requestId({ headers }: Pick<IncomingMessage, 'headers'>): string {
  const given = headers[REQUEST_ID];
  return typeof given === 'string' && WELL_FORMED.test(given) ? given : randomUUID();
}

export const SERVER_TIMING = 'server-timing';

/**
 * Adds the duration of the whole request to the header Server-Timing. If possession is refused, the header is omitted, because the duration
 * might show that a book exists.
 */
export function timeWhole(reply: FastifyReply): void {
  const { statusCode, elapsedTime } = reply;
  if (statusCode === 401 || statusCode === 403) {
    reply.removeHeader(SERVER_TIMING);
    return;
  }
  const steps = reply.getHeader(SERVER_TIMING);
  const total = `total;dur=${elapsedTime.toFixed(2)}`;
  reply.header(SERVER_TIMING, steps ? `${steps}, ${total}` : total);
}
