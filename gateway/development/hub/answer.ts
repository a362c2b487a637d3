import { createHash } from 'node:crypto';
import { z } from 'zod';

/** What the development hub reads of an OpenAI chat request; the rest is accepted and ignored. */
export const chatRequest = z.object({
  model: z.string(),
  messages: z.array(z.object({ role: z.string(), content: z.string() })).min(1),
  max_tokens: z.number().int().positive().optional(),
  stream: z.boolean().default(false),
  stream_options: z.object({ include_usage: z.boolean().default(false) }).default({ include_usage: false }),
});
export type ChatRequest = z.infer<typeof chatRequest>;

export interface HubAnswer {
  readonly id: string;
  readonly words: readonly string[];
  readonly finish_reason: 'stop' | 'length';
  readonly usage: { prompt_tokens: number; completion_tokens: number; total_tokens: number };
}

const QUOTED_MAX = 80;

/** The same request gives the same words and the same id: a test can say what it expects. One token is one word. */
export function answerTo(hub: string, request: ChatRequest): HubAnswer {
  const asked = request.messages.findLast(message => message.role === 'user')?.content ?? '';
  const quoted = asked.length > QUOTED_MAX ? `${asked.slice(0, QUOTED_MAX)}…` : asked;
  const text = `This is ${request.model} on ${hub}, a development model that thinks nothing. You said: "${quoted}"`;
  const all = text.split(/(?<= )/);
  const words = all.slice(0, request.max_tokens ?? all.length);
  const prompt_tokens = request.messages.reduce((sum, message) => sum + wordCount(message.content), 0);
  return {
    id: `chatcmpl-${createHash('sha256')
      .update(JSON.stringify([hub, request]))
      .digest('hex')
      .slice(0, 24)}`,
    words,
    finish_reason: words.length < all.length ? 'length' : 'stop',
    usage: { prompt_tokens, completion_tokens: words.length, total_tokens: prompt_tokens + words.length },
  };
}

/** The answer in one piece. */
export function completionOf(request: ChatRequest, { id, words, finish_reason, usage }: HubAnswer, created: number) {
  const message = { role: 'assistant', content: words.join('') };
  const choices = [{ index: 0, message, finish_reason }];
  return { id, object: 'chat.completion', created, model: request.model, choices, usage };
}

/** The same as OpenAI streams it: who speaks, a chunk for each word, how it ended, and the usage where it was asked for. */
export function chunksOf(request: ChatRequest, { id, words, finish_reason, usage }: HubAnswer, created: number) {
  const head = { id, object: 'chat.completion.chunk', created, model: request.model };
  const chunk = (delta: object, reason: string | null = null) => ({
    ...head,
    choices: [{ index: 0, delta, finish_reason: reason }],
  });
  return {
    first: chunk({ role: 'assistant', content: '' }),
    words: words.map(content => chunk({ content })),
    last: [
      chunk({}, finish_reason),
      ...(request.stream_options.include_usage ? [{ ...head, choices: [], usage }] : []),
    ],
  };
}

function wordCount(text: string): number {
  return text.split(/\s+/).filter(Boolean).length;
}
