import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods } from 'fastify';
import { callDoor, type DoorOutcome, unpaidOfferAt } from './call.ts';
import { paymentIn } from './credentials.ts';
import type { Door, DoorMethod, RestLayer } from './door.ts';
import { type Body, type BodyMedia, type BodySource, type DoorRequest, emptyBody } from './door-request.ts';
import { inFaultForm } from './fault-form.ts';
import { declaresBody, drainBeforeEnd, expectedBytes, leavesUnread, readJson } from './http/body.ts';
import { codingFor } from './http/coding.ts';
import { isPreflight } from './http/cors.ts';
import { disconnectSignal } from './http/disconnect.ts';
import { readForm } from './http/form.ts';
import type { Port } from './port.ts';
import { type Answer, problem } from './problem.ts';
import type { Upload } from './upload.ts';

const METHODS: HTTPMethods[] = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

/** Response for a path without an endpoint. Null gives a plain 404. */
type AnswerElsewhere = (path: string, headers: DoorRequest['headers']) => Answer | null;

/**
 * Serves the table of endpoints over HTTP: each request becomes a call (call.ts), and its outcome a response. It responds in `onRequest`,
 * because Fastify checks content types and bodies after that, and an unpaid call must be answered before both. It owns all paths that no
 * other route of `app` has.
 */
export async function serveDoors(
  app: FastifyInstance,
  port: Port,
  doors: readonly Door[],
  elsewhere: AnswerElsewhere,
): Promise<void> {
  await app.register(async scope => {
    scope.addHook('onSend', async (request, reply, payload) => closeOnUnread(request, reply, payload));
    scope.setErrorHandler((error, request, reply) => {
      if (!request.raw.destroyed)
        request.log.error({ err: error }, 'a request to an endpoint failed with an unexpected error, shown in err');
      return sendOutcome(reply, problem({ code: 'internal' }, {}, paymentIn(request.raw.headers) !== null));
    });
    const route = (
      url: string,
      answer: (request: FastifyRequest, reply: FastifyReply) => Promise<DoorOutcome>,
      compressed = false,
    ) =>
      scope.route({
        method: METHODS,
        url,
        ...(compressed ? {} : { compress: false }),
        onRequest: async (request, reply) =>
          sendOutcome(reply, await chooseStoredForm(request, await answer(request, reply))),
        handler: () => undefined,
      });
    const door_paths = doors.flatMap(door => [door.path, ...door.aliases].map(path => ({ path, door })));
    for (const [path, rows] of Map.groupBy(door_paths, row => row.path)) {
      const here = rows.map(row => row.door);
      route(
        path.replace(/\{(\w+)\}/g, ':$1'),
        (request, reply) => answerAt(here, [request, reply], { port, doors }, path),
        here.every(isForAll),
      );
    }
    // A browser shows a page this 404 only if the preflight was answered.
    route('/*', async request => (isPreflight(request.raw) ? optionsAnswer([]) : notFoundAt(request, elsewhere)));
  });
}

function notFoundAt({ url, headers }: FastifyRequest, elsewhere: AnswerElsewhere): Answer {
  const [path = ''] = url.split('?');
  return elsewhere(path, headers) ?? problem({ code: 'not_found' });
}

/**
 * Only responses that are the same for every client are compressed. The compressed size of a response with a secret would reveal it to an
 * attacker who can add text to it (BREACH), so books and sessions are not compressed. Paid responses are not either, to save time.
 */
function isForAll({ price, possession, slice_token, ingest_key, board_secret }: Door): boolean {
  const asks = [possession, slice_token, ingest_key, board_secret].some(column => column !== 'none');
  return price === null && !asks;
}

async function answerAt(
  here: readonly Door[],
  [request, reply]: readonly [FastifyRequest, FastifyReply],
  layer: RestLayer,
  path: string,
): Promise<DoorOutcome> {
  if (request.method === 'OPTIONS') return optionsAnswer(here);
  const method = request.method === 'HEAD' ? 'GET' : request.method;
  const door = here.find(({ methods }) => methods.includes(method as DoorMethod));
  const call = { ...doorRequest(request, reply), called_path: path };
  if (door) return inFaultForm(door.faults, await (door.face?.serve ?? callDoor)(door, call, layer));
  // An unpaid caller learns the methods of the path (RFC 9110 10.2.1) before paying.
  const allow = allowHeader(here);
  return (await unpaidOfferAt(here, call, layer.port, { allow })) ?? problem({ code: 'method_not_allowed' }, { allow });
}

function doorRequest(request: FastifyRequest, reply: FastifyReply): DoorRequest {
  const { raw, query, ip: address } = request;
  return {
    method: raw.method ?? '',
    params: request.params as Record<string, string>,
    query,
    headers: raw.headers,
    address,
    left: () => disconnectSignal(reply.raw, reply.raw.destroyed),
    body: raw.method === 'GET' || raw.method === 'HEAD' ? null : bodyOf(raw),
  };
}

function bodyOf(request: IncomingMessage): BodySource {
  return {
    expectedBytes: bytes_max => expectedBytes(request, bytes_max),
    async read({ takes, body_bytes_max }, upload) {
      if (!declaresBody(request)) return emptyBody;
      const { 'content-type': type = '', 'content-encoding': coding = 'identity' } = request.headers;
      const { is, read } = readers[takes];
      if (is.test(type) && coding === 'identity') return read(request, body_bytes_max, upload);
      return {
        kind: 'refused',
        code: 'unsupported_media_type',
        detail: `The body must be ${takes}, uncompressed, with no charset but UTF-8.`,
      };
    },
  };
}

interface Reader {
  readonly is: RegExp;
  read(request: IncomingMessage, bytes_max: number, upload: Upload): Promise<Body>;
}

const readers: Readonly<Record<BodyMedia, Reader>> = {
  'application/json': {
    is: /^application\/(?:[\w.!#$&^-]+\+)?json\s*(?:;\s*charset="?utf-8"?\s*)?$/i,
    read: (request, bytes_max) => readJson(request, bytes_max),
  },
  'multipart/form-data': { is: /^multipart\/form-data\s*(?:;|$)/i, read: readForm },
};

/** Methods of a path (RFC 9110 9.3.7). The request is not authenticated, counted or read. */
function optionsAnswer(here: readonly Door[]): Answer {
  const headers: Record<string, string> = here.length === 0 ? {} : { allow: `${allowHeader(here)}, OPTIONS` };
  return { status: 204, headers, body: null };
}

/** RFC 9110 10.2.1. An endpoint with GET also has HEAD. */
function allowHeader(here: readonly Door[]): string {
  const methods = here.flatMap(door => door.methods).flatMap(method => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
  return [...new Set(methods)].join(', ');
}

/** Sends the stored compressed form to clients that accept it. */
export async function chooseStoredForm(
  { raw, headers }: FastifyRequest,
  answer: DoorOutcome,
): Promise<DoorOutcome | CompressedAnswer> {
  if (!('compressed_forms' in answer) || !answer.compressed_forms || leavesUnread(raw)) return answer;
  const coding = 'x-no-compression' in headers ? null : codingFor(headers['accept-encoding']);
  if (coding === null) return { ...answer, body: answer.compressed_forms.plain };
  return {
    ...answer,
    headers: { ...answer.headers, 'content-encoding': coding },
    body: await answer.compressed_forms.in(coding),
  };
}

interface CompressedAnswer extends Omit<DoorOutcome, 'body'> {
  readonly body: Buffer;
}

/** Sends an outcome as the response, for any route. */
export function sendOutcome(reply: FastifyReply, answer: DoorOutcome | CompressedAnswer): FastifyReply {
  reply.code(answer.status).header('x-content-type-options', 'nosniff');
  for (const [name, value] of Object.entries(answer.headers)) reply.header(name, printableHeader(value));
  const { body } = answer;
  // A stream waits for slow readers, and is destroyed when the reader disconnects.
  if (body === null) return reply.send();
  const whole = typeof body === 'string' || Buffer.isBuffer(body) || body instanceof Readable;
  return reply.send(whole ? body : Readable.from(body));
}

/** Node throws on a header that RFC 9110 5.5 does not allow, after the payment may have been settled. */
function printableHeader(value: string): string {
  return value.replace(/[^\t\x20-\x7e]/g, '?');
}

/** `onSend` hook for responses to requests whose body has not been read to its end. */
export function closeOnUnread(request: FastifyRequest, reply: FastifyReply, payload: unknown): unknown {
  if (!leavesUnread(request.raw)) return payload;
  const whole = typeof payload === 'string' || Buffer.isBuffer(payload) ? payload : '';
  // A compressed response would only be complete at its end, which waits for the caller.
  request.headers['x-no-compression'] = 'unread';
  reply.header('connection', 'close').header('content-length', Buffer.byteLength(whole));
  return drainBeforeEnd(whole, request.raw);
}
