import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods } from 'fastify';
import { Refusal } from '../schema/errors.ts';
import { conditional } from './conditional.ts';
import { isPreflight } from './cors.ts';
import { paymentIn } from './credentials.ts';
import type { Door, Method } from './door.ts';
import { pass, type Visit } from './gate.ts';
import { leavesUnread, lingering } from './linger.ts';
import { concluded, fulfilled, type StreamedAnswer, streamed, turnedAway } from './outcome.ts';
import type { Port, Upload } from './port.ts';
import { type Answer, problem } from './problem.ts';
import { rated } from './rated.ts';

const METHODS: HTTPMethods[] = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

/**
 * The one interpreter of the door table. Answers in `onRequest`: Fastify looks at content types and bodies only after
 * it, and an unpaid call is to be answered before either. Owns every path that no other route of `app` has.
 */
export async function serveDoors(app: FastifyInstance, port: Port, doors: readonly Door[]): Promise<void> {
  await app.register(async scope => {
    scope.addHook('onSend', async (request, reply, payload) => hangUpOnUnread(request, reply, payload));
    scope.setErrorHandler((error, request, reply) => {
      if (!request.raw.destroyed) request.log.error({ err: error }, 'a door broke');
      return send(reply, problem({ code: 'internal' }, {}, paymentIn(request.raw.headers) !== null));
    });
    const route = (
      url: string,
      knock: (request: FastifyRequest) => Promise<Answer | StreamedAnswer>,
      compressed = false,
    ) =>
      scope.route({
        method: METHODS,
        url,
        ...(compressed ? {} : { compress: false }),
        onRequest: async (request, reply) => send(reply, await knock(request)),
        handler: () => undefined,
      });
    const spelt = doors.flatMap(door => [door.path, ...door.aliases].map(path => ({ path, door })));
    for (const [path, rows] of Map.groupBy(spelt, row => row.path)) {
      const here = rows.map(row => row.door);
      route(
        path.replace(/\{(\w+)\}/g, ':$1'),
        request => knockAt(here, request, { port, doors }),
        here.every(isForAll),
      );
    }
    // A page hears that there is nothing there only if its browser lets it ask.
    route('/*', async request => (isPreflight(request.raw) ? choices([]) : problem({ code: 'not_found' })));
  });
}

/**
 * Only what is the same for whoever asks is compressed, by whatever the server has for it. The length of an answer with a
 * secret in it would tell that to whoever has text of his beside it (BREACH): books and sessions are left as they are, and
 * so is what is sold, which would pay for it with time on its way.
 */
function isForAll({ price, possession }: Door): boolean {
  return price === null && possession === 'none';
}

interface House {
  readonly port: Port;
  readonly doors: readonly Door[];
}

async function knockAt(here: readonly Door[], request: FastifyRequest, house: House): Promise<Answer | StreamedAnswer> {
  if (request.method === 'OPTIONS') return choices(here);
  const method = request.method === 'HEAD' ? 'GET' : request.method;
  const door = here.find(({ methods }) => methods.includes(method as Method));
  const visit = visited(door, request, house.port);
  try {
    if (door) return await rated(door, visit, house.port, () => opened(door, visit, request, house));
    const toll = await unpaid(here, visit, house.port);
    return toll ?? problem({ code: 'method_not_allowed' }, { allow: allowed(here) });
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return turnedAway(door, visit, house.port, error);
  } finally {
    visit.upload.release();
  }
}

/** RFC 9110 9.3.7: what may be asked of a path. Nothing is done for it, so nobody is asked, counted or read. */
function choices(here: readonly Door[]): Answer {
  const headers: Record<string, string> = here.length === 0 ? {} : { allow: `${allowed(here)}, OPTIONS` };
  return { status: 204, headers, body: null };
}

/**
 * An unpaid call to a paid door yields its 402 whatever its method, as specified for GET; a paid one has the wrong
 * method.
 */
async function unpaid(here: readonly Door[], visit: Visit, port: Port): Promise<Answer | null> {
  const paid = here.find(({ price }) => price !== null);
  if (!paid) return null;
  const passage = await pass(paid, { ...visit, brings_body: false }, port);
  if (passage.kind === 'open') return null;
  // So that nobody pays for a method that is not served: RFC 9110 10.2.1 lets any answer say it.
  return { ...passage.answer, headers: { ...passage.answer.headers, allow: allowed(here) } };
}

/** RFC 9110 10.2.1; whatever answers GET answers HEAD. */
function allowed(here: readonly Door[]): string {
  const methods = here.flatMap(door => door.methods).flatMap(method => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
  return [...new Set(methods)].join(', ');
}

function visited(door: Door | undefined, request: FastifyRequest, port: Port): Visit {
  const params = request.params as Record<string, string>;
  const brings_body = request.method !== 'GET' && request.method !== 'HEAD';
  let upload = noFile;
  return {
    raw: request.raw,
    params,
    address: request.ip,
    brings_body,
    get upload() {
      return upload;
    },
    uploadOf({ payment }) {
      const payer = 'payer' in payment ? payment.payer : null;
      if (door?.takes === 'multipart/form-data') upload = port.beginUpload({ payer, address: request.ip });
      return upload;
    },
  };
}

const noFile: Upload = { id: '', take: () => false, async deliver() {}, release() {} };

async function opened(
  door: Door,
  visit: Visit,
  request: FastifyRequest,
  house: House,
): Promise<Answer | StreamedAnswer> {
  // Nobody is asked who he is: that would be a look into the database, and liveness is told without one.
  if (door.kind === 'page') return conditional(door, visit.raw, fulfilled(door, await door.page(house), {}));
  const passage = await pass(door, visit, house.port);
  if (passage.kind === 'refused') return passage.answer;
  const { query, headers } = request;
  const asked = door.operation({ params: visit.params, query, headers, body: passage.body });
  const { document, variables, stream, plain } = asked;
  await visit.upload.deliver();
  if (stream === null) {
    const spoken = plain ? { ...door, media: plain.media, answer: plain.textOf } : door;
    const executed = await house.port.execute(document, variables, passage.caller, door.nulls);
    return conditional(door, visit.raw, concluded(spoken, visit, house.port, executed));
  }
  const subscribed = await house.port.subscribe(document, variables, passage.caller);
  if (subscribed.kind === 'refused') return concluded(door, visit, house.port, subscribed.executed);
  return streamed(subscribed, stream);
}

function send(reply: FastifyReply, answer: Answer | StreamedAnswer): FastifyReply {
  reply.code(answer.status).header('x-content-type-options', 'nosniff');
  for (const [name, value] of Object.entries(answer.headers)) reply.header(name, printable(value));
  const { body } = answer;
  // A stream waits for a reader who is slow, and is given up when he leaves.
  return reply.send(body === null || typeof body === 'string' ? (body ?? undefined) : Readable.from(body));
}

/** Node throws on a header outside RFC 9110 5.5, and the money may have moved by then. */
function printable(value: string): string {
  return value.replace(/[^\t\x20-\x7e]/g, '?');
}

function hangUpOnUnread(request: FastifyRequest, reply: FastifyReply, payload: unknown): unknown {
  if (!leavesUnread(request.raw)) return payload;
  const text = typeof payload === 'string' ? payload : '';
  // Compressed it would come whole only with its end, which waits for the caller.
  request.headers['x-no-compression'] = 'unread';
  reply.header('connection', 'close').header('content-length', Buffer.byteLength(text));
  return lingering(text, request.raw);
}
