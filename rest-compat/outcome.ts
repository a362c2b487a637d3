import type { Json, JsonObject } from '../schema/canonical-json.ts';
import type { Refusal } from '../schema/errors.ts';
import { jsonText } from '../schema/written.ts';
import { paymentIn } from './credentials.ts';
import type { DocumentDoor, Door, StreamAsked } from './door.ts';
import { offer, type Visit } from './gate.ts';
import { eventStream } from './media/sse.ts';
import { withoutNulls } from './omit-nulls.ts';
import type { Executed, ExecutedError, Port, Subscribed } from './port.ts';
import { type Answer, closed, faultEvent, problem } from './problem.ts';

/** An executed document as an answer: its data by the door's columns, or its first error. */
export function concluded(door: DocumentDoor, visit: Visit, port: Port, executed: Executed): Answer {
  const [error] = executed.errors;
  if (error) return refusal(door, visit, port, error, executed.headers);
  if (executed.data === null) return problem({ code: 'internal' }, executed.headers, pays(door, visit));
  return fulfilled(door, door.answer(executed.data), executed.headers);
}

const pays = (door: Door | undefined, { raw }: Visit): boolean => !!door?.price && paymentIn(raw.headers) !== null;

export function fulfilled(door: Door, body: Json, headers: Executed['headers']): Answer {
  if (body === null) return problem({ code: 'not_found' }, headers);
  return {
    status: door.status,
    headers: { ...headers, 'content-type': door.media, 'cache-control': door.cache },
    body: typeof body === 'string' ? body : jsonText(withoutNulls(body, door.nulls)),
  };
}

/** An answer in events. */
export interface StreamedAnswer extends Omit<Answer, 'body'> {
  readonly body: AsyncIterable<string>;
}

export function streamed(
  { headers, events }: Extract<Subscribed, { kind: 'events' }>,
  asked: StreamAsked,
): StreamedAnswer {
  return { status: 200, headers: { ...headers, ...eventStream }, body: framed(events, asked) };
}

/** A fault is the last event, and no end follows it: the reader shall know that something is missing. */
async function* framed(
  events: Extract<Subscribed, { kind: 'events' }>['events'],
  { eventOf, frames }: StreamAsked,
): AsyncGenerator<string> {
  let index = 0;
  for await (const { data, errors } of events) {
    const [error] = errors;
    if (error || data === null) return yield frames.fault(faultEvent(error ?? { code: 'internal' }), index);
    yield frames.event(eventOf(data));
    index++;
  }
  if (frames.done !== '') yield frames.done;
}

/** A refusal of the door's own, before anything was executed. */
export function turnedAway(door: Door | undefined, visit: Visit, port: Port, cause: Refusal): Answer {
  const { code, status, message } = cause;
  const { code: _code, status: _status, param, answer_headers = {}, ...facts } = cause.extensions;
  const named = typeof param === 'string' ? { param } : {};
  return refusal(
    door,
    visit,
    port,
    { code, status, message, facts: facts as JsonObject, ...named },
    answer_headers as Answer['headers'],
  );
}

function refusal(
  door: Door | undefined,
  visit: Visit,
  port: Port,
  error: ExecutedError,
  headers: Executed['headers'],
): Answer {
  const { code, message, param, facts } = error;
  if (code === 'unauthenticated') return closed(401);
  if (code === 'forbidden') return closed(403);
  if (error.status !== 402 || !door) {
    return problem({ code, message, facts, ...(param ? { param } : {}) }, headers, pays(door, visit));
  }
  const challenge = offer(door, visit, port, { code, detail: message }, error.challenge);
  return { ...challenge, headers: { ...headers, ...challenge.headers } };
}
