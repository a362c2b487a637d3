import { isJsonObject, type Json, type JsonObject } from '../schema/canonical-json.ts';
import { sha256Hex } from '../schema/digest.ts';
import { Refusal } from '../schema/errors.ts';
import { jsonText } from '../schema/written.ts';
import { paymentIn } from './credentials.ts';
import {
  type Columns,
  type DocumentDoor,
  type Door,
  type Face,
  NO_STORE,
  type PageDoor,
  type StreamAsked,
} from './door.ts';
import type { DoorRequest, RequestHeaders } from './door-request.ts';
import { pass, withinRate } from './gate.ts';
import { lastingPage } from './lasting-page.ts';
import { offer } from './offer.ts';
import { withoutNulls } from './omit-nulls.ts';
import type { DoorSubscribed, Executed, ExecutedError, Port, Upload } from './port.ts';
import { type Answer, closed, faultEvent, problem } from './problem.ts';

/** An answer in events. */
export interface StreamedAnswer extends Omit<Answer, 'body'> {
  readonly body: AsyncIterable<string | Uint8Array>;
}

/** What a call comes to: a status, headers, and a body in one piece or in events. */
export type DoorOutcome = Answer | StreamedAnswer;

/**
 * One call of a door, from its rate to its answer, whatever brought it and whatever takes the answer: HTTP is one such way
 * (serve.ts), and whoever adds another passes the same gate. Throws for faults of ours alone.
 */
export async function callDoor(door: Door, request: DoorRequest, house: Face): Promise<DoorOutcome> {
  const { port } = house;
  const uploads: Upload[] = [];
  try {
    const open = () => opened(door, request, house, uploads);
    const rated = door.price === null && door.rated;
    return unreferred(door, await (rated ? withinRate<DoorOutcome>(request, port, open) : open()));
  } catch (error) {
    return unreferred(door, refusedBefore(door, request, port, error));
  } finally {
    for (const upload of uploads) upload.release();
  }
}

/** A browser that follows a link out of an answer tells no one its URL, where that may hold a token (Referrer Policy 3.1). */
function unreferred(door: Door, outcome: DoorOutcome): DoorOutcome {
  if (door.slice_token !== 'whole') return outcome;
  return { ...outcome, headers: { ...outcome.headers, 'referrer-policy': 'no-referrer' } };
}

async function opened(door: Door, request: DoorRequest, house: Face, uploads: Upload[]): Promise<DoorOutcome> {
  const { params, query, headers } = request;
  const { port } = house;
  // Nobody is asked who is calling: that would be a look into the database, and liveness is told without one.
  if (door.kind === 'page') return unlessKnown(headers, await pageOf(door, house));
  const passage = await pass(door, request, port, sender => {
    const upload = port.beginUpload(sender);
    uploads.push(upload);
    return upload;
  });
  if (passage.kind === 'refused') return passage.answer;
  const { document, variables, stream, plain, valid_body } = door.operation({
    params,
    query,
    headers,
    body: passage.body,
  });
  for (const upload of uploads) await upload.deliver();
  if (stream === null) {
    const kept = keptFor(door, query);
    const spelt = plain ? { ...kept, media: plain.media, answer: plain.textOf } : kept;
    const executed = await port.execute({ document, variables, valid_body, caller: passage.caller, nulls: door.nulls });
    return unlessKnown(headers, tagged(spelt, concluded(spelt, request, port, executed)));
  }
  const subscribed = await port.subscribe({ document, variables, valid_body, caller: passage.caller });
  if (subscribed.kind === 'refused') return concluded(door, request, port, subscribed.executed);
  const answer = streamed(subscribed, stream);
  if (request.method !== 'HEAD') return answer;
  await subscribed.events[Symbol.asyncIterator]().return?.();
  return { ...answer, body: null };
}

function pageOf(door: PageDoor, house: Face): Promise<Answer> {
  const make = async () => tagged(door, fulfilled(door, await door.page(house), {}));
  return door.lasting ? lastingPage(door, house, make) : make();
}

/**
 * What an unpaid call is told at a path where its method is not served: the price of what is sold there, as specified for
 * GET. Null where nothing is, and where a payment or key came along. `beside`: headers of whoever serves the path.
 */
export async function unpaidAt(
  doors: readonly Door[],
  request: DoorRequest,
  port: Port,
  beside: Answer['headers'],
): Promise<Answer | null> {
  const paid = doors.find(({ price }) => price !== null);
  if (!paid) return null;
  try {
    const passage = await pass(paid, { ...request, body: null }, port);
    if (passage.kind === 'open') return null;
    return { ...passage.answer, headers: { ...passage.answer.headers, ...beside } };
  } catch (error) {
    return refusedBefore(undefined, request, port, error);
  }
}

/** An executed document as an answer: its data by the door's columns, or its first error. */
function concluded(door: DocumentDoor, request: DoorRequest, port: Port, executed: Executed): Answer {
  const [error] = executed.errors;
  if (error) return refusal(door, request, port, error, executed.headers);
  if (executed.data === null) return problem({ code: 'internal' }, executed.headers, pays(door, request));
  return fulfilled(door, door.answer(executed.data), executed.headers);
}

const pays = (door: Door | undefined, { headers }: DoorRequest): boolean =>
  !!door?.price && paymentIn(headers) !== null;

function fulfilled(door: Door, body: Json, headers: Executed['headers']): Answer {
  if (body === null) return problem({ code: 'not_found' }, headers);
  return {
    status: door.status,
    headers: { ...headers, 'content-type': door.media, 'cache-control': door.cache },
    body: typeof body === 'string' ? body : jsonText(withoutNulls(body, door.nulls)),
  };
}

function streamed(
  { headers, events }: Extract<DoorSubscribed, { kind: 'events' }>,
  asked: StreamAsked,
): StreamedAnswer {
  return { status: 200, headers: { ...headers, ...asked.frames.headers }, body: framed(events, asked) };
}

/** Its reader learns of it by a connection that ends before the answer does. */
class BrokenOff extends Error {
  override name = 'BrokenOff';
}

/** A fault is the last event, and no end follows it: so the reader knows that something is missing. */
async function* framed(
  events: Extract<DoorSubscribed, { kind: 'events' }>['events'],
  { eventOf, frames }: StreamAsked,
): AsyncGenerator<string | Uint8Array> {
  let index = 0;
  for await (const { data, errors } of events) {
    const [error] = errors;
    if (error || data === null) {
      const fault = error ?? { code: 'internal' };
      if (frames.fault === null) throw new BrokenOff(`a streamed answer broke off: ${fault.code}`);
      return yield frames.fault(faultEvent(fault), index);
    }
    yield frames.event(eventOf(data));
    index++;
  }
  if (frames.done !== '') yield frames.done;
}

/** A refusal of the door's own, before anything was executed. @throws what is no refusal */
function refusedBefore(door: Door | undefined, request: DoorRequest, port: Port, cause: unknown): Answer {
  if (!(cause instanceof Refusal)) throw cause;
  const { code, status, message } = cause;
  const { code: _code, status: _status, param, answer_headers = {}, ...facts } = cause.extensions;
  const named = typeof param === 'string' ? { param } : {};
  return refusal(
    door,
    request,
    port,
    { code, status, message, facts: facts as JsonObject, ...named },
    answer_headers as Answer['headers'],
  );
}

function refusal(
  door: Door | undefined,
  request: DoorRequest,
  port: Port,
  error: ExecutedError,
  headers: Executed['headers'],
): Answer {
  const { code, message, param, facts } = error;
  if (code === 'unauthenticated') return closed(401);
  if (code === 'forbidden') return closed(403);
  if (error.status !== 402 || !door) {
    return problem({ code, message, facts, ...(param ? { param } : {}) }, headers, pays(door, request));
  }
  const challenge = offer(door, request, port, { code, detail: message }, error.challenge);
  return { ...challenge, headers: { ...headers, ...challenge.headers } };
}

/** What somebody asks of their own is kept nowhere, wherever the same door says what anybody may keep. */
function keptFor(door: DocumentDoor, query: unknown): DocumentDoor {
  const asked = door.unkept_with !== null && isJsonObject(query) && door.unkept_with in query;
  return asked ? { ...door, cache: NO_STORE } : door;
}

/** 128 bits: none other has it. */
const TAG_DIGITS = 32;

/**
 * What may be kept is named by what it says. The name is weak, since it is one for all content codings (RFC 9110 8.8.3.3);
 * @fastify/etag would name the answers of every door, paid ones too, and compare with one name where a caller may show several.
 */
function tagged({ cache, status }: Pick<Columns, 'cache' | 'status'>, answer: Answer): Answer {
  if (cache === NO_STORE || answer.status !== status || answer.body === null) return answer;
  const tag = sha256Hex(answer.body).slice(0, TAG_DIGITS);
  // It may be compressed, and a 304 says what the answer in its place would have.
  return { ...answer, headers: { ...answer.headers, etag: `W/"${tag}"`, vary: 'accept-encoding' } };
}

/** Whoever shows the answer's name has it still: 304, without a body (RFC 9110 13.1.2, 15.4.5). */
function unlessKnown(headers: RequestHeaders, answer: Answer): Answer {
  const { etag, 'content-type': _, ...others } = answer.headers;
  if (etag === undefined || !shows(headers['if-none-match'], etag)) return answer;
  return { status: 304, headers: { ...others, etag }, body: null };
}

/** Whether one of the names is that of the answer, strong or weak: here that makes no difference. */
function shows(names: RequestHeaders[string], etag: string): boolean {
  if (typeof names !== 'string') return false;
  return names.trim() === '*' || [...names.matchAll(/"[^"]*"/g)].some(([shown]) => etag === `W/${shown}`);
}
