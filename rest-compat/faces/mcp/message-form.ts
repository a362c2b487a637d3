import type { DoorOutcome } from '../../call.ts';
import { bestAccepted, prefers } from '../../http/accept.ts';
import { eventStream } from '../../sse.ts';
import { fault } from './answer.ts';
import { messageEvent } from './progress.ts';

/*
 * Form of an answer. Clients accept both JSON and events (2025-11-25, "Sending Messages to the Server"), and the server chooses. A client
 * that accepts only one gets that one.
 */

const JSON_MEDIA = 'application/json';
const EVENTS = eventStream['content-type'];
const offered = [JSON_MEDIA, EVENTS] as const;

/** Formats an outcome for the Accept header. Null if neither form is accepted. */
export function formFor(accept: string | undefined): ((outcome: DoorOutcome) => DoorOutcome) | null {
  if (bestAccepted(accept, offered) === null) return null;
  return prefers(accept, EVENTS, JSON_MEDIA) ? asEvent : outcome => outcome;
}

/** 406 (RFC 9110 15.5.7), in JSON-RPC and as an HTTP status. */
export const notAcceptable = fault(406, null, {
  code: 'refused',
  message:
    'Not acceptable: a message is answered as application/json or text/event-stream, and the Accept header takes neither.',
  data: { status: 406, offered: [...offered] },
});

/** One message is one event. Errors of HTTP are not events, because clients read them as the body of their status. */
function asEvent(outcome: DoorOutcome): DoorOutcome {
  const { status, headers, body } = outcome;
  if (status !== 200 || !(typeof body === 'string' || Buffer.isBuffer(body))) return outcome;
  return { status, headers: { ...headers, ...eventStream }, body: messageEvent(body) };
}
