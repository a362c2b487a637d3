import type { JsonObject } from '../../schema/canonical-json.ts';
import { errors, isErrorCode } from '../../schema/errors.ts';
import { anthropicKind } from '../fault-form.ts';
import { type EventFrames, eventStream, sseEvent } from '../sse.ts';

/**
 * As Anthropic streams a message: each event is named by its type, and the one with the receipt by that. Clients that know every name pass
 * over it, and those that check the type of what is in it find one that they know (https://github.com/vercel/ai/issues/11309).
 */
export const messageFrames: EventFrames = {
  headers: eventStream,
  event(data) {
    const event = data as JsonObject;
    return `event: ${'svc' in event ? 'svc' : String(event.type)}\n${sseEvent(event)}`;
  },
  fault({ error, ...facts }) {
    const said = error as JsonObject;
    const status = isErrorCode(said.code) ? errors[said.code][0] : 500;
    return `event: error\n${sseEvent({ ...facts, type: 'error', error: { ...said, type: anthropicKind(status) } })}`;
  },
  done: '',
};
