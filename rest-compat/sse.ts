import type { Json, JsonObject } from '../schema/canonical-json.ts';

/** Headers of a stream of events. Proxies must not buffer it. */
export const eventStream = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-store',
  'x-accel-buffering': 'no',
} as const;

/** One server-sent event. JSON has no bare line breaks, so its data is one line (HTML standard, 9.2.6). */
export function sseEvent(data: Json): string {
  return `data: ${JSON.stringify(data)}\n\n`;
}

/** Tells OpenAI's clients that the stream is complete. */
export const sseDone = 'data: [DONE]\n\n';

/** Format of the events of an endpoint. An error is the last event. */
export interface EventFrames {
  readonly headers: Readonly<Record<string, string>>;
  event(data: Json): string | Uint8Array;
  /** `index`: number of the events before. Null if errors cannot be sent: the connection is closed instead. */
  readonly fault: ((fault: JsonObject, index: number) => string) | null;
  readonly done: string;
}

/** The format of chats. */
export const chatFrames: EventFrames = { headers: eventStream, event: sseEvent, fault: sseEvent, done: sseDone };

/** The format of responses: each event has a name, and the name of the last one says that the stream is complete. */
export const namedFrames: EventFrames = {
  headers: eventStream,
  event: data => named(data as JsonObject),
  fault(fault, sequence_number) {
    const { code = null, message = null, param = null } = fault.error as JsonObject;
    return named({ type: 'error', sequence_number, code, message, param, ...fault });
  },
  done: '',
};

/** The format of streams without an end. Each event has its position as its id, so that a browser can resume after it. */
export const liveFrames: EventFrames = {
  headers: eventStream,
  event: data => `id: ${String((data as JsonObject).position)}\n${sseEvent(data)}`,
  fault: fault => `event: error\n${sseEvent(fault)}`,
  done: '',
};

function named(data: JsonObject): string {
  return `event: ${String(data.type)}\n${sseEvent(data)}`;
}

/** Text or bytes of that media type in pieces. A response that HTTP ends (RFC 9112 7.1) is complete; any other is not. */
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
