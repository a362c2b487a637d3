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
  event(data: Json): string;
  /** `index`: how many events went before it. */
  fault(fault: JsonObject, index: number): string;
  readonly done: string;
}

/** As chats are streamed. */
export const chatFrames: EventFrames = { event: sseEvent, fault: sseEvent, done: sseDone };

/** As responses are: each event is named, and the last one says by its name that nothing is missing. */
export const namedFrames: EventFrames = {
  event: data => named(data as JsonObject),
  fault(fault, sequence_number) {
    const { code = null, message = null, param = null } = fault.error as JsonObject;
    return named({ type: 'error', sequence_number, code, message, param, ...fault });
  },
  done: '',
};

function named(data: JsonObject): string {
  return `event: ${String(data.type)}\n${sseEvent(data)}`;
}
