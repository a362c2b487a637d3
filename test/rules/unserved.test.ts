import { describe, expect, it } from 'vitest';
import type { z } from 'zod';
import { canonicalJson, type Json, type JsonObject } from '../../schema/canonical-json.ts';
import { A2aMessage } from '../../schema/requests/a2a-message.ts';
import { ChatRequest } from '../../schema/requests/chat-completion.ts';
import { ImageRequest } from '../../schema/requests/image-generation.ts';
import { ResponsesRequest } from '../../schema/requests/responses.ts';

const tools = { tools: [], tool_choice: 'none' };
const asText = { ...tools, function_call: 'auto', functions: [], n: 1, logprobs: false, audio: null };
const chat = { ...asText, response_format: { type: 'text' }, modalities: ['text'] };
const image = { n: 1, stream: false, quality: 'auto', background: 'auto', moderation: 'auto' };
const messages = [{ role: 'user', content: 'Hello' }];

/** Each with its least body, and what says no more than is done anyway. */
const requests: readonly (readonly [string, z.ZodType, JsonObject, JsonObject])[] = [
  ['a chat', ChatRequest, { messages }, chat],
  ['a message to an agent', A2aMessage, { messages }, chat],
  ['a response', ResponsesRequest, { input: 'Hello' }, { ...tools, text: { format: { type: 'text' } } }],
  ['an image', ImageRequest, { prompt: 'Hello' }, { ...image, style: null, output_format: null, mask: null }],
];

describe.each(requests)('%s', (_, schema, body, usual) => {
  const canonical = (members: JsonObject) => canonicalJson(schema.parse({ ...body, ...members }) as Json);

  it('is the same request whether it says the usual, null or nothing, and whatever unheard-of is beside it', () => {
    const nulls = Object.fromEntries(Object.keys(usual).map(name => [name, null]));
    for (const members of [usual, nulls, { user: 'me', metadata: { a: 1 }, store: true }])
      expect(canonical(members)).toBe(canonical({}));
  });

  it.each(Object.keys(usual))('is refused by name where it wants something else by %s', name => {
    const { success, error } = schema.safeParse({ ...body, [name]: { type: 'other', format: { type: 'other' } } });
    expect([success, error?.issues[0]?.path[0]]).toEqual([false, name]);
    expect(error?.issues[0]?.message).toContain('is not served here');
  });
});

it('max_completion_tokens is the newer name of max_tokens, which counts where both are given', () => {
  const of = (members: JsonObject) => canonicalJson(ChatRequest.parse({ messages, ...members }) as Json);
  expect(of({ max_completion_tokens: 5 })).toBe(of({ max_tokens: 5 }));
  expect(of({ max_tokens: null, max_completion_tokens: 5 })).toBe(of({ max_tokens: 5 }));
  expect(of({ max_tokens: 5, max_completion_tokens: 6 })).toBe(of({ max_tokens: 5 }));
});
