import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import type { Metrics } from './metrics.ts';

/* Requests as an operator sees them, and what callers are told of the time that theirs took. */

/** Of whoever looks after us, every few seconds: in the log only where somebody wants it all. */
const PROBES: ReadonlySet<string> = new Set(['/livez', '/readyz', '/metrics', '/health']);

/** What is known by no name of ours; a caller chooses paths and methods, and a label or a line must not grow by that. */
const OTHER = 'other';
const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** In place of a status where whoever asked has left before there was one. */
const UNANSWERED = 'none';

/** Requests as an operator sees them: each is counted once, by its door, and is one line in the log. */
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
    // A caller who leaves before the answer has no response that could end.
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

  /** Never a URL, a header or a body: in them are sessions, payments, keys and slice tokens. */
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
        door,
        status,
        duration_ms: Math.round(duration_ms * 100) / 100,
        ...(task_id === undefined ? {} : { task_id }),
        ...(reply.raw.writableFinished ? {} : { aborted: true }),
      },
      'answered',
    );
  }

  /** As the door table spells it. */
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

/** A UUID (RFC 9562 §4) or a ULID: shorter than any key, session or signature, which a caller might put there. */
const WELL_FORMED = /^(?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-7][0-9A-HJKMNP-TV-Z]{25})$/i;

/** The caller's own where it is well formed, so that their log and ours name one thing; it goes into the log. */
export function requestId({ headers }: Pick<IncomingMessage, 'headers'>): string {
  const given = headers[REQUEST_ID];
  return typeof given === 'string' && WELL_FORMED.test(given) ? given : randomUUID();
}

export const SERVER_TIMING = 'server-timing';

/**
 * Adds the whole of a request to what its steps took. Not where possession was refused: those answers say nothing but
 * their status, and how long it took might tell a book that exists from one that does not.
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
