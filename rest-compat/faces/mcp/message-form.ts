import type { DoorOutcome } from '../../call.ts';
import { bestLiked, likesBetter } from '../../http/accept.ts';
import { eventStream } from '../../sse.ts';
import { fault } from './answer.ts';
import { messageEvent } from './progress.ts';

/*
 * In which form a message is answered. A client of the protocol takes both JSON and events (2025-11-25, "Sending Messages to the
 * Server"), and the server chooses; whoever takes one of them alone is given that one.
 */

const JSON_MEDIA = 'application/json';
const EVENTS = eventStream['content-type'];
const offered = [JSON_MEDIA, EVENTS] as const;

/** What makes the answer of an outcome for a request with this Accept header; null where it takes neither form. */
export function formFor(accept: string | undefined): ((outcome: DoorOutcome) => DoorOutcome) | null {
  if (bestLiked(accept, offered) === null) return null;
  return likesBetter(accept, EVENTS, JSON_MEDIA) ? inEvents : outcome => outcome;
}

/** RFC 9110 15.5.7, as JSON-RPC and HTTP both say it. */
export const unacceptable = fault(406, null, {
  code: 'refused',
  message:
    'Not acceptable: a message is answered as application/json or text/event-stream, and the Accept header takes neither.',
  data: { status: 406, offered: [...offered] },
});

/** One message, one event. What HTTP itself refuses is none: clients read it as the body of its status. */
function inEvents(outcome: DoorOutcome): DoorOutcome {
  const { status, headers, body } = outcome;
  if (status !== 200 || !(typeof body === 'string' || Buffer.isBuffer(body))) return outcome;
  return { status, headers: { ...headers, ...eventStream }, body: messageEvent(body) };
}
