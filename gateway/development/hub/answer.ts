import { createHash } from 'node:crypto';
import { z } from 'zod';
import { isJsonObject, type JsonObject } from '../../../schema/canonical-json.ts';
import { sampleOf } from './sample.ts';

/* Responses of the development hub to chats, whole or streamed, with the model that they name. */

const json = z.custom<JsonObject>(isJsonObject);
const part = z.object({ type: z.string(), text: z.string().default('') });
const tool = z.object({ function: z.object({ name: z.string(), parameters: json.optional() }) });

/** The members of an OpenAI chat request that the development hub reads. It ignores all others. */
export const chatRequest = z.object({
  model: z.string(),
  messages: z.array(z.object({ role: z.string(), content: z.union([z.string(), z.array(part)]).nullable() })).min(1),
  max_tokens: z.number().int().positive().optional(),
  stream: z.boolean().default(false),
  stream_options: z.object({ include_usage: z.boolean().default(false) }).default({ include_usage: false }),
  tools: z.array(tool).default([]),
  tool_choice: z
    .union([z.string(), z.object({ function: z.object({ name: z.string() }) }).loose(), json])
    .default('auto'),
  response_format: z
    .object({ type: z.string(), json_schema: z.object({ schema: json.optional() }).optional() })
    .default({ type: 'text' }),
});
export type HubChat = z.infer<typeof chatRequest>;

interface Call {
  readonly id: string;
  readonly type: 'function';
  readonly function: { readonly name: string; readonly arguments: string };
}

export interface HubAnswer {
  readonly id: string;
  /** Call of a tool; null if the response is text. */
  readonly call: Call | null;
  readonly words: readonly string[];
  readonly finish_reason: 'stop' | 'length' | 'tool_calls';
  readonly usage: { prompt_tokens: number; completion_tokens: number; total_tokens: number };
}

const QUOTED_MAX = 80;

/**
 * The response to a request. The same request gets the same words and id, so that a test can predict them. One token is one word. A
 * request that offers a tool gets a call of it, unless its last message is a tool's result; a request that requires JSON gets a
 * value that fits its schema.
 */
export function answerTo(hub: string, request: HubChat): HubAnswer {
  const digest = createHash('sha256')
    .update(JSON.stringify([hub, request]))
    .digest('hex');
  const call = callOf(request, digest);
  const all = call ? call.function.arguments.split(/(?<=[,:])/) : wordsOf(hub, request);
  const words = call ? all : all.slice(0, request.max_tokens ?? all.length);
  const prompt_tokens = request.messages.reduce((sum, message) => sum + wordCount(textOf(message.content)), 0);
  return {
    id: `chatcmpl-${digest.slice(0, 24)}`,
    call,
    words,
    finish_reason: call ? 'tool_calls' : words.length < all.length ? 'length' : 'stop',
    usage: { prompt_tokens, completion_tokens: words.length, total_tokens: prompt_tokens + words.length },
  };
}

function callOf({ tools, tool_choice, messages }: HubChat, digest: string): Call | null {
  if (tool_choice === 'none' || messages.at(-1)?.role === 'tool') return null;
  const named = typeof tool_choice === 'object' && 'function' in tool_choice ? tool_choice.function : null;
  const wanted = isJsonObject(named) ? tools.find(offered => offered.function.name === named.name) : tools[0];
  if (!wanted) return null;
  const { name, parameters } = wanted.function;
  const given = JSON.stringify(sampleOf(parameters ?? { type: 'object' }));
  return { id: `call_${digest.slice(0, 24)}`, type: 'function', function: { name, arguments: given } };
}

function wordsOf(hub: string, { model, messages, response_format }: HubChat): string[] {
  const asked = textOf(messages.findLast(message => message.role === 'user')?.content ?? '');
  const quoted = asked.length > QUOTED_MAX ? `${asked.slice(0, QUOTED_MAX)}…` : asked;
  if (response_format.type === 'json_object') return JSON.stringify({ said: quoted }).split(/(?<=[,:])/);
  if (response_format.type === 'json_schema')
    return JSON.stringify(sampleOf(response_format.json_schema?.schema)).split(/(?<=[,:])/);
  const told = messages.at(-1)?.role === 'tool' ? ` A tool said: "${textOf(messages.at(-1)?.content ?? '')}"` : '';
  const text = `This is ${model} on ${hub}, a development model that thinks nothing. You said: "${quoted}"${told}`;
  return text.split(/(?<= )/);
}

/** The response as one object. */
export function hubCompletion(request: HubChat, answer: HubAnswer, created: number) {
  const { id, call, words, finish_reason, usage } = answer;
  const message = call
    ? { role: 'assistant', content: null, tool_calls: [call] }
    : { role: 'assistant', content: words.join('') };
  const choices = [{ index: 0, message, finish_reason }];
  return { id, object: 'chat.completion', created, model: modelNamedFor(request.model), choices, usage };
}

/** The response in OpenAI's stream format: role, a chunk for each word, finish reason, and usage if requested. */
export function hubChunks(request: HubChat, answer: HubAnswer, created: number) {
  const { id, call, words, finish_reason, usage } = answer;
  const head = { id, object: 'chat.completion.chunk', created, model: modelNamedFor(request.model) };
  const chunk = (delta: object, reason: string | null = null) => ({
    ...head,
    choices: [{ index: 0, delta, finish_reason: reason }],
  });
  const given = (text: string) => ({ tool_calls: [{ index: 0, function: { arguments: text } }] });
  const begun = call && { ...call, index: 0, function: { name: call.function.name, arguments: '' } };
  return {
    first: chunk({ role: 'assistant', ...(begun ? { content: null, tool_calls: [begun] } : { content: '' }) }),
    words: words.map(word => chunk(call ? given(word) : { content: word })),
    last: [
      chunk({}, finish_reason),
      ...(request.stream_options.include_usage ? [{ ...head, choices: [], usage }] : []),
    ],
  };
}

function textOf(content: HubChat['messages'][number]['content']): string {
  return typeof content === 'string' ? content : (content ?? []).map(({ text }) => text).join('');
}

function wordCount(text: string): number {
  return text.split(/\s+/).filter(Boolean).length;
}

interface NamedModel {
  /** Documentation or report in which this is described. */
  readonly source: string;
  /** Value of `model` in the responses. */
  readonly names: string;
}

/**
 * Models of the development hubs whose responses name another model than the requested one, as some real hubs do, so that the
 * effect on receipts and disputes can be seen.
 */
export const namedModels = {
  'dev/answers-dated': {
    source: 'OpenAI, platform.openai.com/docs/api-reference/chat (gpt-4o answers as gpt-4o-2024-08-06)',
    names: 'dev/answers-dated-2024-08-06',
  },
  'dev/answers-other': {
    source: 'LiteLLM, as reported in github.com/BerriAI/litellm/issues/27942',
    names: 'dev/small',
  },
  'dev/answers-unknown': {
    source: 'LiteLLM, as reported in github.com/BerriAI/litellm/issues/38107',
    names: 'tiny-model-2024',
  },
} as const satisfies Record<string, NamedModel>;

/** The model that the hub names in its response to a request for `model`. */
function modelNamedFor(model: string): string {
  const named: NamedModel | undefined = namedModels[model as keyof typeof namedModels];
  return named?.names ?? model;
}
