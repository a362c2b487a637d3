import type { Json } from '../../schema/canonical-json.ts';

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
