import { describe, expect, it } from 'vitest';
import type { z } from 'zod';
import { canonicalJson, type Json, type JsonObject } from '../../schema/canonical-json.ts';
import { ChatRequest, chatUnserved } from '../../schema/requests/chat-completion.ts';
import { ImageRequest } from '../../schema/requests/image-generation.ts';
import { ResponsesRequest, responseUnserved } from '../../schema/requests/responses.ts';
import { chatWithoutEffect, responseWithoutEffect } from '../../schema/requests/unsupported-members.ts';

const plain = { functions: [], function_call: 'auto', modalities: ['text'], logit_bias: {}, verbosity: 'medium' };
const chat = { ...plain, n: 1, logprobs: false, top_logprobs: 0, audio: null, web_search_options: null };
const once = { previous_response_id: null, conversation: null, context_management: null, prompt: null };
const response = { ...once, background: false, truncation: 'disabled', top_logprobs: 0 };
const image = { n: 1, stream: false, quality: 'auto', background: 'auto', moderation: 'auto' };
/** Said, they are passed on; said so, they say nothing. */
const noTools = { tools: [], tool_choice: 'auto', parallel_tool_calls: true };
const messages = [{ role: 'user', content: 'Hello' }];

/** Each with its least body, what it may not want otherwise, and what else says no more than is done anyway. */
const requests: readonly (readonly [string, z.ZodType, JsonObject, JsonObject, JsonObject])[] = [
  ['a chat', ChatRequest, { messages }, chat, { ...noTools, response_format: { type: 'text' } }],
  ['a response', ResponsesRequest, { input: 'Hello' }, response, { ...noTools, text: { format: { type: 'text' } } }],
  ['an image', ImageRequest, { prompt: 'Hello' }, { ...image, style: null, output_format: null, mask: null }, {}],
];

describe.each(requests)('%s', (_, schema, body, usual, unsaid) => {
  const canonical = (members: JsonObject) => canonicalJson(schema.parse({ ...body, ...members }) as Json);

  it('is the same request whether it says the usual, null or nothing, and whatever without effect is beside it', () => {
    const nulls = Object.fromEntries(Object.keys({ ...usual, ...unsaid }).map(name => [name, null]));
    for (const members of [usual, unsaid, nulls, { user: 'me', metadata: { a: 1 }, store: true }])
      expect(canonical(members)).toBe(canonical({}));
  });

  it.each(Object.keys(usual))('is refused by name where it wants something else by %s', name => {
    const { success, error } = schema.safeParse({ ...body, [name]: { type: 'other', format: { type: 'other' } } });
    expect([success, error?.issues[0]?.path[0]]).toEqual([false, name]);
    expect(error?.issues[0]?.message).toContain('is not supported');
  });
});

describe.each<[string, z.ZodType, JsonObject, object, object]>([
  ['a chat', ChatRequest, { messages }, chatUnserved, chatWithoutEffect],
  ['a response', ResponsesRequest, { input: 'Hello' }, responseUnserved, responseWithoutEffect],
])('%s', (_, schema, body, unserved, ineffective) => {
  it('takes what has no effect, whatever it says, and is the same request without it', () => {
    for (const name of Object.keys(ineffective))
      for (const said of [true, 'x', 7, { a: [1] }, null])
        expect(schema.parse({ ...body, [name]: said })).toEqual(schema.parse(body));
  });

  it.each(Object.keys(unserved))('refuses %s by name where it asks for what is not served, and says why', name => {
    const { error } = schema.safeParse({ ...body, [name]: { type: 'other' } });
    expect(error?.issues).toMatchObject([{ path: [name], message: expect.stringMatching(/^is not supported: \w/) }]);
  });
});

it('max_completion_tokens is the newer name of max_tokens, which counts where both are given', () => {
  const of = (members: JsonObject) => canonicalJson(ChatRequest.parse({ messages, ...members }) as Json);
  expect(of({ max_completion_tokens: 5 })).toBe(of({ max_tokens: 5 }));
  expect(of({ max_tokens: null, max_completion_tokens: 5 })).toBe(of({ max_tokens: 5 }));
  expect(of({ max_tokens: 5, max_completion_tokens: 6 })).toBe(of({ max_tokens: 5 }));
});

describe.each<[string, z.ZodType, JsonObject, readonly string[]]>([
  ['a chat', ChatRequest, { messages }, ['max_tokens', 'max_completion_tokens', 'max_output_tokens']],
  ['a response', ResponsesRequest, { input: 'Hello' }, ['max_output_tokens', 'max_tokens', 'max_completion_tokens']],
])('the limit on the tokens of %s', (_, schema, body, [own = '', ...others]) => {
  const of = (members: JsonObject) => canonicalJson(schema.parse({ ...body, ...members }) as Json);

  it('is the same by each of its names, alone or beside its own', () => {
    for (const name of others) {
      expect(of({ [name]: 7 })).toBe(of({ [own]: 7 }));
      expect(of({ [own]: 7, [name]: 7 })).toBe(of({ [own]: 7 }));
      expect(of({ [own]: 7, [name]: null })).toBe(of({ [own]: 7 }));
    }
    expect(of({ [own]: 7 })).not.toBe(of({}));
  });

  it('is refused by name where two names differ', () => {
    const [last = ''] = others.slice(-1);
    for (const first of [own, ...others.slice(0, -1)]) {
      const { error } = schema.safeParse({ ...body, [first]: 7, [last]: 8 });
      expect(error?.issues.map(({ path }) => path)).toEqual([[last]]);
    }
  });
});

it('what neither a chat nor a response takes is refused of a response with the reason, and not with the name of a chat', () => {
  for (const [name, shape] of Object.entries(chatUnserved)) {
    const { error } = ResponsesRequest.safeParse({ input: 'Hello', [name]: { type: 'other' } });
    expect([name, error?.issues[0]?.path]).toEqual([name, [name]]);
    expect(error?.issues[0]?.message).not.toContain('a member of a chat');
    expect(shape.safeParse(chat[name as keyof typeof chat] ?? null).success).toBe(true);
  }
  expect(ResponsesRequest.parse({ input: 'Hello', verbosity: 'medium' })).toEqual(
    ResponsesRequest.parse({ input: 'Hello' }),
  );
  expect(ResponsesRequest.safeParse({ input: 'Hello', verbosity: 'low' }).error?.issues[0]?.message).toContain(
    'hubs treat it differently',
  );
});

it('a message with content and parts is refused, because one of them would be lost', () => {
  const parts = [{ type: 'text', text: 'Hello' }];
  const read = (message: JsonObject) => ChatRequest.safeParse({ messages: [{ role: 'user', ...message }] });
  expect(read({ parts }).success).toBe(true);
  for (const none of [null, []]) expect(read({ content: 'Hello', parts: none }).success).toBe(true);
  expect(read({ content: 'Hello', parts }).error?.issues).toMatchObject([{ path: ['messages', 0, 'parts'] }]);
});
