import type { Json, JsonObject } from '../schema/canonical-json.ts';

/** Headers of an answer in events: proxies are to pass each on as it comes. */
export const eventStream = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-store',
  'x-accel-buffering': 'no',
} as const;

/** One server-sent event. JSON has no bare line breaks, so its data is one line (HTML standard, 9.2.6). */
export function sseEvent(data: Json): string {
  return `data: ${JSON.stringify(data)}\n\n`;
}

/** By which OpenAI's clients know that nothing is missing. */
export const sseDone = 'data: [DONE]\n\n';

/** How the events of one door are written; a fault is the last of them, and nothing follows it. */
export interface EventFrames {
  readonly headers: Readonly<Record<string, string>>;
  event(data: Json): string | Uint8Array;
  /** `index`: how many events went before it. Null where a fault cannot be told: the answer is cut off instead. */
  readonly fault: ((fault: JsonObject, index: number) => string) | null;
  readonly done: string;
}

/** As chats are streamed. */
export const chatFrames: EventFrames = { headers: eventStream, event: sseEvent, fault: sseEvent, done: sseDone };

/** As responses are: each event is named, and the last one says by its name that nothing is missing. */
export const namedFrames: EventFrames = {
  headers: eventStream,
  event: data => named(data as JsonObject),
  fault(fault, sequence_number) {
    const { code = null, message = null, param = null } = fault.error as JsonObject;
    return named({ type: 'error', sequence_number, code, message, param, ...fault });
  },
  done: '',
};

/** Events that go on for ever: each has its position for an id, by which a browser resumes where it was cut off. */
export const liveFrames: EventFrames = {
  headers: eventStream,
  event: data => `id: ${String((data as JsonObject).position)}\n${sseEvent(data)}`,
  fault: fault => `event: error\n${sseEvent(fault)}`,
  done: '',
};

function named(data: JsonObject): string {
  return `event: ${String(data.type)}\n${sseEvent(data)}`;
}

/** Text or bytes of that media type, piece by piece: what HTTP itself ends (RFC 9112 7.1) is whole, and nothing else is. */
export function pieceFrames(media: string): EventFrames {
  return {
    headers: { ...eventStream, 'content-type': media },
    event: data => {
      const { text, base64 } = data as JsonObject;
      return typeof base64 === 'string' ? Buffer.from(base64, 'base64') : String(text ?? '');
    },
    fault: null,
    done: '',
  };
}
