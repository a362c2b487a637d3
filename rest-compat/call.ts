import { isJsonObject, type Json, type JsonObject } from '../schema/canonical-json.ts';
import { Refusal } from '../schema/errors.ts';
import { jsonText } from '../schema/json-text.ts';
import type { Form } from './answer-forms.ts';
import { cacheBoardAnswer } from './board-cache.ts';
import { bodyIn, cacheBytes } from './bytes-cache.ts';
import { constantPage } from './constant-page.ts';
import { paymentIn } from './credentials.ts';
import { type Columns, type DocumentDoor, type Door, NO_STORE, type PageDoor, type RestLayer } from './door.ts';
import type { ChosenOperation, ChosenStream } from './door-operation.ts';
import { type DoorRequest, requireKnownHeaders } from './door-request.ts';
import { addEtag, answerConditional } from './etag.ts';
import { faultPage } from './fault-page.ts';
import { offer } from './offer.ts';
import { inBrowserForm, isPaid } from './offer-page.ts';
import { withoutNulls } from './omit-nulls.ts';
import type { Caller, DoorError, DoorResult, Port } from './port.ts';
import { type Answer, closingCodes, emptyRefusal, faultBeside, problem } from './problem.ts';
import { runChecks, withinRate } from './request-checks.ts';
import { type StreamedAnswer, streamAnswer } from './streamed-answer.ts';
import type { Upload } from './upload.ts';

/** Outcome of a call: a status, headers, and a body in one piece or as events. */
export type DoorOutcome = Answer | StreamedAnswer;

/**
 * Handles one call of an endpoint, from the rate limit to the answer, for any transport: HTTP is one (serve.ts), and every other passes the
 * same checks. Throws only for internal errors.
 */
export async function callDoor(door: Door, request: DoorRequest, layer: RestLayer): Promise<DoorOutcome> {
  const { port } = layer;
  const uploads: Upload[] = [];
  try {
    const open = () => handle(door, request, layer, uploads);
    const rated = door.price === null && door.rated;
    const outcome = await (rated ? withinRate<DoorOutcome>(request, port, open) : open());
    return finishOutcome(request, door, outcome);
  } catch (error) {
    return finishOutcome(request, door, earlyRefusal(door, request, port, error));
  } finally {
    for (const upload of uploads) upload.release();
  }
}

/** Adds the headers that every answer of the endpoint has, and makes an error a page if the request asked for one. */
function finishOutcome(request: DoorRequest, door: Door, outcome: DoorOutcome): DoorOutcome {
  const page = faultPage(door, request, outcome);
  return withDoorHeaders(door, page === null ? outcome : { ...outcome, ...page });
}

async function handle(door: Door, request: DoorRequest, layer: RestLayer, uploads: Upload[]): Promise<DoorOutcome> {
  const { port } = layer;
  // A page does not identify the caller: that would take a query to the database, and liveness must not depend on it.
  if (door.kind === 'page') return answerConditional(request.headers, await pageOf(door, layer));
  const passage = await runChecks(door, request, port, sender => {
    const upload = port.beginUpload(sender);
    uploads.push(upload);
    return upload;
  });
  if (passage.kind === 'refused') return passage.answer;
  const { caller, body } = passage;
  const operation = await withCharge(door, caller, port, () => operationOf(door, request, body));
  for (const upload of uploads) await upload.deliver();
  const call = { door, request, port, caller };
  const { stream } = operation;
  if (stream === null) return answerOnce(call, operation);
  return stream.live ? follow(call, operation, stream) : subscribe(call, operation, stream);
}

/** A call that may run its document. */
interface AdmittedCall {
  readonly door: DocumentDoor;
  readonly request: DoorRequest;
  readonly port: Port;
  readonly caller: Caller;
}

/** Checks headers like members of the body: after price and possession, before anything is claimed. @throws Refusal invalid_request */
function operationOf(door: DocumentDoor, request: DoorRequest, body: JsonObject): ChosenOperation {
  const { params, query, headers } = request;
  requireKnownHeaders(headers);
  const accept = (request.called_path ?? door.path) === door.path ? headers.accept : undefined;
  return door.operation({ params, query, headers, body, accept });
}

/**
 * A refusal before the document runs also states whether the payment was charged, because an earlier attempt of the same request may have
 * been.
 */
async function withCharge<T>(door: Door, caller: Caller, port: Port, ask: () => T): Promise<T> {
  try {
    return ask();
  } catch (fault) {
    throw door.price && fault instanceof Refusal ? await port.besidePayment(fault, caller.payment) : fault;
  }
}

/** An answer in one piece, from what is kept of an earlier one if it may be. */
async function answerOnce(call: AdmittedCall, operation: ChosenOperation): Promise<Answer> {
  const { request, port, caller } = call;
  const { document, variables, valid_body, plain } = operation;
  const form = await formOf(plain, port);
  const door = doorOf(call, operation, form);
  const execute = async () => {
    const executed = await port.execute({ document, variables, valid_body, caller, nulls: door.nulls });
    const headers = { ...executed.headers, ...form?.headers };
    return addEtag(door, answerOfResult(door, request, port, { ...executed, headers }));
  };
  const make = () => cacheBytes(door, request.params, port, execute);
  return answerConditional(request.headers, await cacheBoardAnswer({ ...door, variables }, port, make));
}

type ChosenForm = Pick<Form, 'media' | 'headers' | 'textOf'>;

/** A page that verifies itself is made with its script. */
async function formOf(plain: ChosenOperation['plain'], port: Port): Promise<ChosenForm | null> {
  if (plain === null || !('withProgram' in plain)) return plain;
  return { media: plain.media, ...plain.withProgram(await port.verifierProgram()) };
}

/** The endpoint with what this call changes in its row: the status, the form, and whether the answer may be kept. */
function doorOf(
  { door, request, caller }: AdmittedCall,
  { variables, status }: ChosenOperation,
  form: ChosenForm | null,
): DocumentDoor {
  return {
    ...doorForCaller(door, request.query, caller),
    ...(status !== null && { status }),
    ...(form === null ? { answer: data => door.answer(data, variables) } : { media: form.media, answer: form.textOf }),
  };
}

/** Events that end with the answer. */
async function subscribe(
  { door, request, port, caller }: AdmittedCall,
  { document, variables, valid_body }: ChosenOperation,
  stream: ChosenStream,
): Promise<DoorOutcome> {
  const subscribed = await port.subscribe({ document, variables, valid_body, caller, left: request.left?.() });
  if (subscribed.kind === 'refused') return answerOfResult(door, request, port, subscribed.executed);
  const answer = streamAnswer(subscribed, stream);
  if (request.method !== 'HEAD') return answer;
  await subscribed.events[Symbol.asyncIterator]().return?.();
  return { ...answer, body: null };
}

/** Events that do not end. */
async function follow(
  { door, request, port }: AdmittedCall,
  { document, variables }: ChosenOperation,
  { eventOf, frames }: ChosenStream,
): Promise<DoorOutcome> {
  const events = await port.follow({ document, variables, eventOf, frames, address: request.address });
  if (events.kind === 'refused') return answerOfResult(door, request, port, events.executed);
  const answer = { status: 200, headers: frames.headers };
  if (request.method !== 'HEAD') return { ...answer, body: events.body };
  events.body.destroy();
  return { ...answer, body: null };
}

function pageOf(door: PageDoor, layer: RestLayer): Promise<Answer> {
  const make = async () => addEtag(door, successAnswer(door, await door.page(layer), door.headers));
  return door.is_constant ? constantPage(door, layer, make) : make();
}

/**
 * The price of the endpoint at a path whose method is not served, as specified for an unpaid GET; a browser gets an offer as a page.
 * Null if nothing is sold at the path, or if the request has a payment or key. `beside`: headers of the server that owns the path.
 */
export async function unpaidOfferAt(
  doors: readonly Door[],
  request: DoorRequest,
  port: Port,
  beside: Answer['headers'],
): Promise<Answer | null> {
  const paid = doors.find(isPaid);
  if (!paid) return null;
  try {
    const passage = await runChecks(paid, { ...request, body: null }, port);
    if (passage.kind === 'open') return null;
    const { headers, ...answer } = inBrowserForm(paid, request, passage.answer, port);
    return { ...answer, headers: { ...headers, ...beside } };
  } catch (error) {
    return earlyRefusal(undefined, request, port, error);
  }
}

/** Turns the result of a document into an answer: its data by the columns of the endpoint, or its first error. */
function answerOfResult(door: DocumentDoor, request: DoorRequest, port: Port, executed: DoorResult): Answer {
  const [error] = executed.errors;
  if (error) return refusal(door, request, port, error, executed.headers);
  if (executed.data === null) return problem({ code: 'internal' }, executed.headers, pays(door, request));
  const { data, headers } = executed;
  const status = door.again?.is(data) ? door.again.status : door.status;
  return successAnswer(door, door.answer(data), headers, status);
}

const pays = (door: Door | undefined, { headers }: DoorRequest): boolean =>
  !!door?.price && paymentIn(headers) !== null;

function successAnswer(door: Door, body: Json, headers: DoorResult['headers'], status = door.status): Answer {
  if (body === null) return problem({ code: 'not_found' }, headers);
  return {
    status,
    headers: { ...headers, 'content-type': door.media, 'cache-control': door.cache },
    body: typeof body === 'string' ? bodyIn(door.media, body) : jsonText(withoutNulls(body, door.nulls)),
  };
}

/** A refusal before anything was executed. @throws the cause if it is not a refusal */
function earlyRefusal(door: Door | undefined, request: DoorRequest, port: Port, cause: unknown): Answer {
  if (!(cause instanceof Refusal)) throw cause;
  const { headers, ...fault } = faultBeside(cause);
  return refusal(door, request, port, { ...fault, status: cause.status }, headers);
}

function refusal(
  door: Door | undefined,
  request: DoorRequest,
  port: Port,
  error: DoorError,
  headers: DoorResult['headers'],
): Answer {
  const { code, message, param, facts } = error;
  const closing = closingCodes[code];
  if (closing) return emptyRefusal(closing);
  if (error.status !== 402 || !door) {
    return problem({ code, message, facts, ...(param ? { param } : {}) }, headers, pays(door, request));
  }
  const challenge = offer(door, request, port, { code, detail: message }, error.challenge);
  return { ...challenge, headers: { ...headers, ...challenge.headers } };
}

/** A response that depends on the caller must not be cached, even if the same endpoint also gives public responses. */
function doorForCaller(door: DocumentDoor, query: unknown, { possession }: Pick<Caller, 'possession'>): DocumentDoor {
  const is_private = door.unkept_with !== null && isJsonObject(query) && door.unkept_with in query;
  const own = door.unkept_for_holders && possession.kind !== 'absent';
  return is_private || own ? { ...door, cache: NO_STORE } : door;
}

type ResponseHead = { readonly headers: Readonly<Record<string, string>> };

/** Adds the headers that every answer of the endpoint has, including refusals. */
function withDoorHeaders<A extends ResponseHead>(
  { slice_token, by_accept }: Pick<Columns, 'slice_token' | 'by_accept'>,
  answer: A,
): A {
  const vary = [answer.headers.vary ?? [], 'accept'].flat().join(', ');
  return {
    ...answer,
    headers: {
      ...answer.headers,
      // The URL may contain a token, so a browser that follows a link on the page must not send it (Referrer Policy 3.1).
      ...(slice_token === 'whole' ? { 'referrer-policy': 'no-referrer' } : {}),
      // Without `Vary` a cache would send a browser's page to a program (RFC 9110 12.5.5).
      ...(by_accept.length === 0 ? {} : { vary }),
    },
  };
}
