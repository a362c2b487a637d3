import type { HubAnswer } from './answer.ts';

/** A model that answers with the body that it was sent: so anyone sees what of a request reaches a hub. A key comes in a header, and is not in it. */
export const ECHO_MODEL = 'dev/echo';

/** The body as the text of an answer, in pieces. */
export function echoed(answer: HubAnswer, body: unknown): HubAnswer {
  const words = JSON.stringify(body).split(/(?<=[,:])/);
  const { prompt_tokens } = answer.usage;
  const usage = { prompt_tokens, completion_tokens: words.length, total_tokens: prompt_tokens + words.length };
  return { ...answer, call: null, words, finish_reason: 'stop', usage };
}
