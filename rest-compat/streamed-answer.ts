import type { ChosenStream } from './door-operation.ts';
import type { SubscribeOutcome } from './port.ts';
import { type Answer, faultEvent } from './problem.ts';

/** An answer in events. */
export interface StreamedAnswer extends Omit<Answer, 'body'> {
  readonly body: AsyncIterable<string | Uint8Array>;
}

type Events = Extract<SubscribeOutcome, { kind: 'events' }>;

export function streamAnswer({ headers, events }: Events, stream: ChosenStream): StreamedAnswer {
  return { status: 200, headers: { ...headers, ...stream.frames.headers }, body: frameEvents(events, stream) };
}

/** The reader sees a connection that is closed before the response is complete. */
class BrokenOff extends Error {
  override name = 'BrokenOff';
}

/** An error is the last event and has no end marker after it, so that the reader knows that the stream is incomplete. */
async function* frameEvents(
  events: Events['events'],
  { eventOf, frames }: ChosenStream,
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
