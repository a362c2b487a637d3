import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import type { z } from 'zod';
import { canonicalHash, type Json, type JsonObject } from '../../schema/canonical-json.ts';
import { ChatRequest, samplingMembers, schemaMembers } from '../../schema/requests/chat-completion.ts';
import { functionMembers, messageMembers } from '../../schema/requests/chat-message.ts';
import { EmbeddingRequest } from '../../schema/requests/embedding.ts';
import { foldName } from '../../schema/requests/forwarded/extra.ts';
import { foreignRefused, foreignWithoutEffect } from '../../schema/requests/forwarded/foreign-members.ts';
import { formerArgs, unknownMembers } from '../../schema/requests/forwarded/known-members.ts';
import { MessagesRequest, MessageTokensRequest } from '../../schema/requests/messages.ts';
import { parseRequest } from '../../schema/requests/parse.ts';
import { ResponseCall, ResponsesRequest } from '../../schema/requests/responses.ts';
import { readRequest } from '../../subgraphs/graph-type.ts';
import { chatRequestOf } from '../../subgraphs/receipt/inference/messages/chat-request.ts';
import { unknownInMessage } from '../../subgraphs/receipt/inference/messages/unknown-members.ts';
import { inputOfBody } from '../harness/doors/graph-input.ts';

const messages = [{ role: 'user', content: 'Hello' }];
const chat = (members: JsonObject): JsonObject => parseRequest(ChatRequest, { messages, ...members });
const response = (members: JsonObject): JsonObject => parseRequest(ResponsesRequest, { input: 'Hello', ...members });
const message = (members: JsonObject): JsonObject =>
  parseRequest(MessagesRequest, { max_tokens: 9, messages, ...members });
const refusal = (param: string) =>
  expect.objectContaining({ code: 'invalid_request', extensions: expect.objectContaining({ param }) });
const nested = (levels: number): Json => (levels === 1 ? {} : { a: nested(levels - 1) });

/** A member as any hub might name it; never one of ours, nor one that is withheld from hubs. */
const name = fc.stringMatching(/^zz_[a-z0-9_]{1,12}$/);
const value = fc
  .jsonValue({ maxDepth: 4 })
  .filter(json => json !== null && !JSON.stringify(json).includes('__proto__'))
  .map(json => JSON.parse(JSON.stringify(json)) as Json);
const members = fc.dictionary(name, value, { minKeys: 1, maxKeys: 4 });
/** With the ordinary prototype that a parsed request has. */
const plain = (json: unknown) => JSON.parse(JSON.stringify(json)) as JsonObject;

describe.each<[string, (said: JsonObject) => JsonObject, z.ZodType<object>, string, JsonObject]>([
  ['a chat', chat, ChatRequest, 'chat_completions', { messages }],
  ['a response', response, ResponseCall, 'create_response', { input: 'Hello' }],
  ['a message', message, MessagesRequest, 'create_message', { max_tokens: 9, messages }],
])('%s', (_, parse, of_resolver, door, usual) => {
  it('keeps any member under a name that nobody knows, deep-equal, whether it stands beside the others or in extra', () => {
    fc.assert(
      fc.property(members, given => {
        const extra = plain(given);
        expect(parse(extra).extra).toEqual(extra);
        expect(parse({ extra })).toEqual(parse(extra));
        expect(canonicalHash(parse(extra))).not.toBe(canonicalHash(parse({})));
      }),
    );
  });

  it('is bound to the same bytes by REST and by GraphQL', () => {
    fc.assert(
      fc.property(members, given => {
        const { valid, input } = inputOfBody(door, { ...usual, ...plain(given) });
        expect(valid).toEqual(parse(plain(given)));
        expect(canonicalHash(readRequest(of_resolver, input) as JsonObject)).toBe(canonicalHash(valid));
      }),
      { numRuns: 50 },
    );
  });

  it('is another request with another value, and the same where a member is null', () => {
    expect(canonicalHash(parse({ top_k: 3 }))).not.toBe(canonicalHash(parse({ top_k: 4 })));
    expect(canonicalHash(parse({ top_k: null, extra: { min_p: null } }))).toBe(canonicalHash(parse({})));
  });

  it('takes 32 levels of a value and no more, and says so', () => {
    expect(parse({ deep: nested(32) }).extra).toEqual({ deep: nested(32) });
    expect(() => parse({ deep: nested(33) })).toThrow('deep: is nested more than 32 levels deep');
  });

  it.each<[string, JsonObject]>([
    ['extra', { extra: [] }],
    ['extra.temperature', { extra: { temperature: 1 } }],
    ['extra.model', { extra: { model: 'x' } }],
    ['extra.top_k', { top_k: 1, extra: { top_k: 1 } }],
    ['extra.provider', { extra: { provider: { order: ['a'] } } }],
    ['half', { half: '\ud800' }],
    ['beyond', { beyond: Number.POSITIVE_INFINITY }],
    ['Temperature', { Temperature: 1 }],
    ['top-p', { 'top-p': 1 }],
    ['intentId', { intentId: 'x' }],
    ['n', { n: 2 }],
    ['extra.n', { extra: { n: 2 } }],
    ['x-svc-session', { 'x-svc-session': 'secret' }],
  ])('is refused, naming %s', (param, said) => {
    expect(() => parse(said)).toThrow(refusal(param));
  });

  it('has no member __proto__, at whatever depth, and nothing is changed by one', () => {
    const polluted = (text: string) => JSON.parse(text) as JsonObject;
    expect(() => parse(polluted('{"__proto__":{"polluted":1}}'))).toThrow(refusal('__proto__'));
    expect(() => parse(polluted('{"a":[{"__proto__":{"polluted":1}}]}'))).toThrow(refusal('a.0.__proto__'));
    expect(() => parse(polluted('{"extra":{"__proto__":{"polluted":1}}}'))).toThrow(refusal('extra.__proto__'));
    expect(({} as JsonObject).polluted).toBeUndefined();
    expect(parse(polluted('{"constructor":{"prototype":{"polluted":1}}}')).extra).toEqual({
      constructor: { prototype: { polluted: 1 } },
    });
  });

  const spellings = (spelt: string) => [
    spelt,
    spelt.toUpperCase(),
    spelt.replaceAll('_', '-'),
    spelt.replaceAll('_', ''),
  ];

  it('is refused by every name that chooses who answers, at whose cost or in whose name', () => {
    for (const { names, why } of foreignRefused)
      for (const spelt of names.flatMap(spellings)) {
        const known = refusedByItself.includes(spelt);
        expect(() => parse({ [spelt]: 'other' })).toThrow(refusal(spelt));
        if (!known) expect(() => parse({ [spelt]: 'other' })).toThrow(`${spelt}: is not supported: ${why}`);
        for (const nothing of [null, false, [], {}]) if (!known) expect(parse({ [spelt]: nothing })).toEqual(parse({}));
      }
  });

  it.each([
    ...['enable_code_interpreter', 'lora_path', 'bootstrap_host', 'bootstrap_port', 'bootstrap_room'],
    ...['session_params', 'custom_logit_processor'],
  ])('is refused by a name that a hub made of other software reads: %s', spelt => {
    expect(() => parse({ [spelt]: 'other' })).toThrow(`${spelt}: is not supported: `);
  });

  it('is the same request whatever identifies who asks', () => {
    for (const { names } of foreignWithoutEffect)
      for (const spelt of names.flatMap(spellings)) expect(parse({ [spelt]: { a: 1 } })).toEqual(parse({}));
    for (const spelt of ['User', 'safety-identifier', 'promptCacheKey'])
      expect(parse({ [spelt]: 'x' })).toEqual(parse({}));
  });
});

/** Names that a request refuses with a reason of its own. */
const refusedByItself = [
  ...['background', 'conversation', 'context_management', 'previous_response_id'],
  ...['container', 'thread', 'fallbacks', 'speed', 'inference_geo', 'mcp_servers', 'betas'],
  ...['workspace_id', 'billing_policy', 'fallback_credit_token'],
];

it('no name stands in two tables, or twice in one', () => {
  const all = [...foreignRefused, ...foreignWithoutEffect].flatMap(({ names }) => names.map(foldName));
  expect(all.length).toBe(new Set(all).size);
});

describe('within a chat', () => {
  const call = { id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } };
  const tool = { type: 'function', function: { name: 'f' } };

  it.each<[string, JsonObject]>([
    ['a message', { messages: [{ role: 'user', content: 'x', zz: 1 }] }],
    ['a part', { messages: [{ role: 'user', content: [{ type: 'text', text: 'x', zz: 1 }] }] }],
    [
      'an image',
      {
        messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'https://a.example/', zz: 1 } }] }],
      },
    ],
    ['a call', { messages: [{ role: 'assistant', tool_calls: [{ ...call, zz: 1 }] }] }],
    ['a tool', { tools: [{ ...tool, zz: 1 }] }],
    ['a function', { tools: [{ ...tool, function: { name: 'f', zz: 1 } }] }],
    ['a choice', { tools: [tool], tool_choice: { ...tool, zz: 1 } }],
    ['the name that is chosen', { tools: [tool], tool_choice: { ...tool, function: { name: 'f', zz: 1 } } }],
    [
      'what may be chosen',
      {
        tools: [tool],
        tool_choice: { type: 'allowed_tools', allowed_tools: { mode: 'auto', tools: [tool], zz: 1 } },
      },
    ],
    [
      'one that may be chosen',
      {
        tools: [tool],
        tool_choice: {
          type: 'allowed_tools',
          allowed_tools: { mode: 'auto', tools: [{ ...tool, function: { name: 'f', zz: 1 } }] },
        },
      },
    ],
    ['a format', { response_format: { type: 'json_object', zz: 1 } }],
    ['a schema', { response_format: { type: 'json_schema', json_schema: { name: 'a', zz: 1 } } }],
  ])('%s keeps what nobody knows, and is named by where it stands', (_, said) => {
    expect(unknownMembers(chat(said)).map(({ name: unknown }) => unknown)).toEqual(['zz']);
    expect(JSON.stringify(chat(said))).toContain('"zz":1');
    const without = JSON.parse(JSON.stringify(said).replaceAll(',"zz":1', '')) as JsonObject;
    expect(canonicalHash(chat(said))).not.toBe(canonicalHash(chat(without)));
    expect(canonicalHash(formerArgs(chat(said)) as JsonObject)).toBe(canonicalHash(chat(without)));
    expect(formerArgs(chat(without))).toBeNull();
  });

  it('every member that the schemas list is known', () => {
    const nulls = (names: readonly string[]) => Object.fromEntries(names.map(member => [member, null]));
    const known = {
      ...nulls(Object.keys(samplingMembers)),
      messages: [nulls(messageMembers.filter(member => member !== 'extra'))],
      tools: [{ type: 'function', function: nulls(Object.keys(functionMembers)) }],
      response_format: { type: 'json_schema', json_schema: nulls(Object.keys(schemaMembers)) },
    };
    expect(unknownMembers(known)).toEqual([]);
  });

  const written = { type: 'text', text: 'x', cache_control: { type: 'ephemeral' } };
  const within: readonly (readonly [string, string, (said: JsonObject) => JsonObject])[] = [
    ['a message', 'messages.0.', said => ({ messages: [{ role: 'user', content: 'x', ...said }] })],
    ['a part', 'messages.0.content.0.', said => ({ messages: [{ role: 'user', content: [{ ...written, ...said }] }] })],
    [
      'a call',
      'messages.0.tool_calls.0.',
      said => ({ messages: [{ role: 'assistant', tool_calls: [{ ...call, ...said }] }] }),
    ],
    ['a tool', 'tools.0.', said => ({ tools: [{ ...tool, ...said }] })],
  ];

  it.each(within)('%s says nothing of who asks', (_, __, holding) => {
    const without = chat(holding({}));
    const names = foreignWithoutEffect.filter(group => group.within).flatMap(group => group.names);
    for (const spelt of [...names, 'sessionId', 'user', 'safety_identifier', 'metadata', 'store'])
      expect(chat(holding({ [spelt]: { user_id: 'me' } }))).toEqual(without);
  });

  it.each(within)('%s holds neither a key, an address nor what pays, and is refused by its name', (_, at, holding) => {
    const [groups, others] = [true, undefined].map(is => foreignRefused.filter(group => group.within === is));
    for (const { names, why } of groups ?? [])
      for (const spelt of names) {
        expect(() => chat(holding({ [spelt]: 'other' }))).toThrow(refusal(`${at}${spelt}`));
        expect(() => chat(holding({ [spelt]: 'other' }))).toThrow(why);
        expect(chat(holding({ [spelt]: null }))).toEqual(chat(holding({})));
      }
    expect(() => chat(holding({ 'x-svc-session': 'secret' }))).toThrow(refusal(`${at}x-svc-session`));
    const [free = ''] = others?.flatMap(({ names }) => names) ?? [];
    expect(unknownMembers(chat(holding({ [free]: 'x' }))).map(({ name: unknown }) => unknown)).toContain(free);
  });

  it('text in parts is one text, unless a part holds more than that', () => {
    const messagesOf = (...parts: JsonObject[]) => chat({ messages: [{ role: 'system', content: parts }] }).messages;
    const text = { type: 'text', text: 'a' };
    expect(messagesOf(text, { ...text, annotations: [] })).toEqual([{ role: 'system', content: 'aa' }]);
    const marked = { ...text, cache_control: { type: 'ephemeral' } };
    expect(messagesOf(text, marked)).toEqual([{ role: 'system', parts: [text, marked] }]);
    expect(messagesOf(text, { ...text, extra: { cache_control: { type: 'ephemeral' } } })).toEqual(
      messagesOf(text, marked),
    );
  });

  it.each<[string, JsonObject]>([
    ['messages.0.extra.content', { role: 'user', content: 'x', extra: { content: 'y' } }],
    ['messages.0.toolCallId', { role: 'tool', tool_call_id: 'c', content: 'x', toolCallId: 'd' }],
    ['messages.0.tool_calls', { role: 'user', content: 'x', tool_calls: [call] }],
    ['messages.0.reasoning_content', { role: 'user', content: 'x', reasoning_content: 'y' }],
    ['messages.0.content.0.Text', { role: 'user', content: [{ type: 'text', text: 'x', Text: 'y' }] }],
  ])('is refused, naming %s', (param, message) => {
    expect(() => chat({ messages: [message] })).toThrow(refusal(param));
  });

  it.each<[string, JsonObject, JsonObject]>([
    ['a turn of nothing', { role: 'assistant', content: [] }, { role: 'assistant', content: null }],
    [
      'an answer as it came',
      {
        role: 'assistant',
        content: 'x',
        refusal: null,
        annotations: [],
        audio: null,
        function_call: null,
        tool_calls: [],
      },
      { role: 'assistant', content: 'x' },
    ],
    [
      'a call from a stream',
      { role: 'assistant', content: null, tool_calls: [{ ...call, index: 0 }] },
      { role: 'assistant', content: null, tool_calls: [call] },
    ],
    ['a name', { role: 'user', content: 'x', name: 'Ann' }, { role: 'user', content: 'x', name: 'Ann' }],
    ['a developer', { role: 'developer', content: 'x' }, { role: 'developer', content: 'x' }],
    [
      'thoughts',
      {
        role: 'assistant',
        content: null,
        reasoning_content: 'a',
        reasoning: 'b',
        reasoning_details: [{ type: 'c', d: [1] }],
      },
      {
        role: 'assistant',
        content: null,
        reasoning_content: 'a',
        reasoning: 'b',
        reasoning_details: [{ type: 'c', d: [1] }],
      },
    ],
    [
      'a refusal in parts',
      { role: 'assistant', content: [{ type: 'refusal', refusal: 'No.' }] },
      { role: 'assistant', content: 'No.' },
    ],
    [
      'a result in parts',
      { role: 'tool', tool_call_id: 'c', name: 'f', content: [{ type: 'text', text: 'x' }] },
      { role: 'tool', content: 'x', name: 'f', tool_call_id: 'c' },
    ],
  ])('a history passes: %s', (_, message, canonical) => {
    expect(chat({ messages: [message] }).messages).toEqual([canonical]);
  });

  it('an empty list is no content of a user, as at OpenAI', () => {
    expect(() => chat({ messages: [{ role: 'user', content: [] }] })).toThrow(refusal('messages.0.content'));
  });
});

describe('within a message', () => {
  const text = { type: 'text', text: 'x' };
  const input_schema = { type: 'object' };
  const turn = (block: JsonObject, role = 'user') => ({ messages: [{ role, content: [block] }] });
  const pdf = { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0=' };
  const link = { type: 'url', url: 'https://a.example/a.png' };
  const json_schema = { type: 'json_schema', schema: { type: 'object' } };

  it.each<[string, JsonObject, string, boolean]>([
    ['a turn', { messages: [{ role: 'user', content: 'x', zz: 1 }] }, 'messages.0.zz', true],
    ['a system', { system: [{ ...text, zz: 1 }] }, 'system.0.zz', true],
    ['a text', turn({ ...text, zz: 1 }), 'messages.0.content.0.zz', true],
    ['a text of an answer', turn({ ...text, zz: 1 }, 'assistant'), 'messages.0.content.0.zz', true],
    ['an image', turn({ type: 'image', source: link, zz: 1 }), 'messages.0.content.0.zz', true],
    ['its source', turn({ type: 'image', source: { ...link, zz: 1 } }), 'messages.0.content.0.source.zz', true],
    ['a PDF', turn({ type: 'document', source: pdf, zz: 1 }), 'messages.0.content.0.zz', true],
    ['its source', turn({ type: 'document', source: { ...pdf, zz: 1 } }), 'messages.0.content.0.source.zz', true],
    [
      'a document of text',
      turn({ type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'x' }, zz: 1 }),
      'messages.0.content.0.zz',
      true,
    ],
    [
      'its source',
      turn({ type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'x', zz: 1 } }),
      'messages.0.content.0.source.zz',
      false,
    ],
    [
      'a document of blocks',
      turn({ type: 'document', source: { type: 'content', content: [text] }, zz: 1 }),
      'messages.0.content.0.zz',
      false,
    ],
    [
      'a block in a document',
      turn({ type: 'document', source: { type: 'content', content: [{ ...text, zz: 1 }] } }),
      'messages.0.content.0.source.content.0.zz',
      true,
    ],
    [
      'what was found',
      turn({ type: 'search_result', source: 's', title: 't', content: [text], zz: 1 }),
      'messages.0.content.0.zz',
      true,
    ],
    [
      'a text of what was found',
      turn({ type: 'search_result', source: 's', title: 't', content: [{ ...text, zz: 1 }] }),
      'messages.0.content.0.content.0.zz',
      false,
    ],
    [
      'a call',
      turn({ type: 'tool_use', id: 'c', name: 'f', input: {}, zz: 1 }, 'assistant'),
      'messages.0.content.0.zz',
      true,
    ],
    ['a result', turn({ type: 'tool_result', tool_use_id: 'c', zz: 1 }), 'messages.0.content.0.zz', true],
    [
      'a text of a result',
      turn({ type: 'tool_result', tool_use_id: 'c', content: [{ ...text, zz: 1 }] }),
      'messages.0.content.0.content.0.zz',
      true,
    ],
    [
      'thinking that is signed',
      turn({ type: 'thinking', thinking: 'x', signature: 's', zz: 1 }, 'assistant'),
      'messages.0.content.0.zz',
      true,
    ],
    [
      'thinking that is encrypted',
      turn({ type: 'redacted_thinking', data: 'x', zz: 1 }, 'assistant'),
      'messages.0.content.0.zz',
      true,
    ],
    ['a tool', { tools: [{ name: 'f', input_schema, zz: 1 }] }, 'tools.0.zz', true],
    [
      'the tool that is chosen',
      { tools: [{ name: 'f', input_schema }], tool_choice: { type: 'tool', name: 'f', zz: 1 } },
      'tool_choice.zz',
      true,
    ],
    [
      'what may be chosen',
      { tools: [{ name: 'f', input_schema }], tool_choice: { type: 'auto', zz: 1 } },
      'tool_choice.zz',
      false,
    ],
    ['thinking', { thinking: { type: 'adaptive', zz: 1 } }, 'thinking.zz', false],
    ['how it is put out', { output_config: { zz: 1 } }, 'output_config.zz', false],
    ['a format', { output_config: { format: { ...json_schema, zz: 1 } } }, 'output_config.format.zz', true],
    ['a format by its former name', { output_format: { ...json_schema, zz: 1 } }, 'output_config.format.zz', true],
    ['a cache marker', { cache_control: { type: 'ephemeral', zz: 1 } }, 'cache_control.zz', false],
    [
      'the cache marker of a block',
      turn({ ...text, cache_control: { type: 'ephemeral', zz: 1 } }),
      'messages.0.content.0.cache_control.zz',
      false,
    ],
  ])('%s keeps what nobody knows: %j, named as %s; it has a place in a chat: %s', (_, said, at, in_chat) => {
    const asked = message(said) as unknown as MessagesRequest;
    expect(unknownInMessage(asked)).toEqual([{ name: 'zz', at, in_chat }]);
    const { in_anthropic, ...as_chat } = chatRequestOf(asked);
    expect(JSON.stringify(in_anthropic?.body)).toContain('"zz":1');
    expect(JSON.stringify(as_chat).includes('"zz":1')).toBe(in_chat);
    const without = JSON.parse(JSON.stringify(said).replaceAll(',"zz":1', '').replaceAll('"zz":1', '')) as JsonObject;
    expect(canonicalHash(asked)).not.toBe(canonicalHash(message(without)));
    expect(unknownInMessage(message(without) as unknown as MessagesRequest)).toEqual([]);
  });

  const result = { type: 'tool_result', tool_use_id: 'c' };

  it.each<[string, JsonObject]>([
    ...['toolCalls', 'parts', 'name', 'reasoning', 'refusal'].map((beside): [string, JsonObject] => [
      `messages.0.${beside}`,
      { messages: [{ role: 'assistant', content: 'x', [beside]: 'forged' }] },
    ]),
    ['messages.0.content.0.parts', turn({ ...result, parts: 5 })],
    [
      'messages.0.content.0.Function',
      turn({ type: 'tool_use', id: 'c', name: 'f', input: {}, Function: 1 }, 'assistant'),
    ],
    ['messages.0.content.0.imageUrl', turn({ type: 'image', source: link, imageUrl: 'x' })],
    ['messages.0.content.0.source.Detail', turn({ type: 'image', source: { ...link, Detail: 'x' } })],
    ['tools.0.Function', { tools: [{ name: 'f', input_schema, Function: {} }] }],
    ['output_config.format.Name', { output_config: { format: { ...json_schema, Name: 'x' } } }],
    ['output_config.format.name', { output_config: { format: { ...json_schema, name: 5 } } }],
  ])('what a chat knows by that name, or nearly, has no place in one: %s', (at, said) => {
    const [unknown] = unknownInMessage(message(said) as unknown as MessagesRequest);
    expect(unknown).toMatchObject({ at, in_chat: false });
  });

  it('a turn of results has no place in a chat for a member that one of these has', () => {
    const said = { messages: [{ role: 'user', content: [{ ...result, w: 5 }], w: 3, v: 1 }] };
    expect(unknownInMessage(message(said) as unknown as MessagesRequest)).toEqual([
      { name: 'w', at: 'messages.0.w', in_chat: false },
      { name: 'v', at: 'messages.0.v', in_chat: true },
      { name: 'w', at: 'messages.0.content.0.w', in_chat: true },
    ]);
  });

  it.each<[string, JsonObject]>([
    ['messages.0.content.0.zz', turn({ type: 'thinking', thinking: 'x', zz: 1 }, 'assistant')],
    ['messages.0.content.0.api_key', turn({ ...text, api_key: 'sk-other' })],
    ['messages.0.base_url', { messages: [{ role: 'user', content: 'x', base_url: 'https://a.example' }] }],
    ['tools.0.proxy', { tools: [{ name: 'f', input_schema, proxy: 'https://a.example' }] }],
    ['thinking.secret_key', { thinking: { type: 'adaptive', secret_key: 'x' } }],
    ['messages.0.content.0.Text', turn({ ...text, Text: 'y' })],
    ['messages.0.content.0.deep', turn({ ...text, deep: nested(33) })],
    ['stop', { stop: ['a'] }],
    ['max_completion_tokens', { max_completion_tokens: 9 }],
    ['response_format', { response_format: { type: 'json_object' } }],
    ['n', { n: 2 }],
  ])('is refused, naming %s', (param, said) => {
    expect(() => message(said)).toThrow(refusal(param));
  });

  it('says nothing of who asks', () => {
    for (const spelt of ['user', 'user_id', 'session_id', 'metadata', 'trace_id', 'store']) {
      expect(message(turn({ ...text, [spelt]: 'me' }))).toEqual(message(turn(text)));
      expect(message({ [spelt]: 'me' })).toEqual(message({}));
    }
  });

  it('a choice of nothing else than the usual is none, and one with more than that is kept', () => {
    const tools = [{ name: 'f', input_schema }];
    expect(message({ tools, tool_choice: { type: 'auto' } })).toEqual(message({ tools }));
    expect(message({ tools, tool_choice: { type: 'auto', zz: 1 } }).tool_choice).toEqual({ type: 'auto', zz: 1 });
  });
});

describe('a response', () => {
  it.each(['messages', 'response_format', 'logprobs', 'audio', 'stream_options2'])(
    'takes no member of a chat that it says in its own way: %s',
    spelt => {
      if (spelt === 'stream_options2') expect(response({ [spelt]: {} }).extra).toEqual({ [spelt]: {} });
      else expect(() => response({ [spelt]: 'x' })).toThrow(refusal(spelt));
    },
  );

  it('passes how an answer is drawn on as a chat has it, and the rest of reasoning as a chat’s member', () => {
    expect(response({ seed: 7, stop: ['a'], reasoning: { effort: 'low', max_tokens: 9 } })).toMatchObject({
      extra: { seed: 7, stop: ['a'], reasoning: { max_tokens: 9 } },
      reasoning_effort: 'low',
    });
  });

  it.each(['text.zz', 'extra.instructions'])('is refused, naming %s', param => {
    const [outer = '', inner = ''] = param.split('.');
    expect(() => response({ [outer]: { [inner]: 1 } })).toThrow(refusal(param));
  });

  const call = { type: 'function_call', id: 'fc_1', status: 'completed', call_id: 'c', name: 'f', arguments: '{}' };
  const called = { id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } };
  const thought = {
    type: 'reasoning',
    id: 'rs_1',
    summary: [{ type: 'summary_text', text: 'Hm.' }],
    encrypted_content: 'x',
  };
  const hi = {
    type: 'message',
    role: 'assistant',
    content: [{ type: 'output_text', text: 'Hi', annotations: [], logprobs: [] }],
  };

  it.each<[string, JsonObject[], JsonObject[]]>([
    [
      'thoughts go with the turn that follows them',
      [thought, hi, call, { type: 'function_call_output', call_id: 'c', output: 'x' }],
      [
        { role: 'assistant', content: 'Hi', reasoning_content: 'Hm.', tool_calls: [called] },
        { role: 'tool', content: 'x', tool_call_id: 'c' },
      ],
    ],
    [
      'also where that is a call',
      [thought, call],
      [{ role: 'assistant', content: null, reasoning_content: 'Hm.', tool_calls: [called] }],
    ],
    ['what is encrypted goes nowhere', [{ ...thought, summary: [] }, hi], [{ role: 'assistant', content: 'Hi' }]],
    [
      'its own words go before a summary',
      [{ ...thought, content: [{ type: 'reasoning_text', text: 'Hmm, hm.' }] }, hi],
      [{ role: 'assistant', content: 'Hi', reasoning_content: 'Hmm, hm.' }],
    ],
    ['alone they are a turn', [thought], [{ role: 'assistant', content: null, reasoning_content: 'Hm.' }]],
    [
      'what nobody knows goes with its item',
      [
        { ...hi, zz: 1 },
        { ...call, extra_content: { a: 1 } },
      ],
      [{ role: 'assistant', content: 'Hi', extra: { zz: 1 }, tool_calls: [{ ...called, extra_content: { a: 1 } }] }],
    ],
  ])('%s', (_, input, chatted) => {
    expect(response({ input }).input).toEqual(chatted);
  });
});

it.each([
  'litellm_credential_name',
  'aws_bedrock_runtime_endpoint',
  'aws_web_identity_token',
  'sagemaker_base_url',
  's3_endpoint_url',
  'deployment_url',
  'langfuse_secret',
  'input_cost_per_token',
  'vertex_ai_credentials',
  'client_secret',
  'gemini_api_key',
  'base_uri',
  'proxy_url',
  'model_fallbacks',
])('%s, by which a gateway is told keys, addresses or prices, is refused in the body and in a message', name => {
  expect(() => chat({ [name]: 'x' })).toThrow(refusal(name));
  expect(() => chat({ messages: [{ ...messages[0], [name]: 'x' }] })).toThrow(refusal(`messages.0.${name}`));
});

describe.each([
  ['a chat', chat],
  ['a response', response],
  ['a message', message],
  ['the tokens of a message', (said: JsonObject) => parseRequest(MessageTokensRequest, { messages, ...said })],
  ['a request for vectors', (said: JsonObject) => parseRequest(EmbeddingRequest, { input: 'Hello', ...said })],
])('names of unknown members, in %s', (_, parse) => {
  /** Which texts are folded: each is first brought to its compatibility form. */
  const foldedBy = (parsing: () => unknown): string[] => {
    const normalized = vi.spyOn(String.prototype, 'normalize');
    parsing();
    const texts = normalized.mock.contexts.map(String);
    normalized.mockRestore();
    return texts;
  };
  const shown = 'ﷺ'.repeat(128);
  const overlong = 'ﷺ'.repeat(10_000);
  const named = (count: number, beginning: string) =>
    Object.fromEntries(Array.from({ length: count }, (__, index) => [`${beginning}${index}`, 1]));

  it('are refused before they are folded where they are too long', () => {
    const parsing = () => {
      expect(() => parse({ [overlong]: 1 })).toThrow(refusal(shown));
      expect(() => parse({ extra: { [overlong]: 1 } })).toThrow(refusal(`extra.${shown}`));
    };
    expect(foldedBy(parsing)).not.toContain(overlong);
    expect(() => parse({ ['ﷺ'.repeat(8)]: 1 })).toThrow(refusal('ﷺ'.repeat(8)));
  });

  it('are folded once in each reading, however many members the object could have', () => {
    // Once to see how long it is, and once to fold it; a response is read as it came, and as the chat that it becomes.
    const names = foldedBy(() => parse(named(100, 'é'))).filter(text => text.startsWith('é'));
    expect(names.length).toBeLessThanOrEqual(4 * 100);
  });

  it('are a thousand in one object at the most', () => {
    parse(named(1_000, 'zz'));
    for (const said of [named(1_001, 'zz'), { ...named(500, 'zz'), extra: named(501, 'yy') }])
      expect(() => parse(said)).toThrow('has more than 1000 members that this service does not know');
  });
});

describe('what names a file or a key of ours', () => {
  const kept = ['file_id', 'fileIds', 'container', 'vector_store_ids', 'connector_id'];
  const names = [...kept, 'authorization_token', 'Bearer-Token', 'auth_header', 'headers'];
  const part = (given: JsonObject) => ({ messages: [{ role: 'user', content: [given] }] });
  const data = { type: 'base64', data: 'AAAA' };
  const pdf = { ...data, media_type: 'application/pdf' };
  const png = { ...data, media_type: 'image/png' };
  const tool = { type: 'function', function: { name: 'f' } };
  const text = { type: 'text', text: 'x' };

  it.each<[string, string, (unknown: JsonObject) => JsonObject]>([
    ['a document', 'messages.0.content.0.source', on => message(part({ type: 'document', source: { ...pdf, ...on } }))],
    ['an image', 'messages.0.content.0.source', on => message(part({ type: 'image', source: { ...png, ...on } }))],
    ['a block', 'messages.0.content.0', on => message(part({ ...text, ...on }))],
    ['a tool', 'tools.0', on => message({ tools: [{ name: 'f', input_schema: {}, ...on }] })],
    ['a turn', 'messages.0', on => message({ messages: [{ role: 'user', content: 'x', ...on }] })],
    ['a part of a chat', 'messages.0.content.0', on => chat(part({ ...text, ...on }))],
    ['a tool of a chat', 'tools.0', on => chat({ tools: [{ ...tool, ...on }] })],
    [
      'a file of a chat',
      'messages.0.content.0.file',
      on => chat(part({ type: 'file', file: { file_data: 'data:application/pdf;base64,AAAA', ...on } })),
    ],
  ])('is refused in %s', (_, at, parse) => {
    for (const unknown of names) expect(() => parse({ [unknown]: 'x' })).toThrow(refusal(`${at}.${unknown}`));
  });
});
