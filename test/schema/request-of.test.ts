import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import type { z } from 'zod';
import { canonicalJson, type Json } from '../../schema/canonical-json.ts';
import { ChatRequest } from '../../schema/requests/chat-completion.ts';
import { ImageRequest } from '../../schema/requests/image-generation.ts';
import { parseBody } from '../../schema/requests/parse.ts';
import { RegistrationRequest } from '../../schema/requests/registration.ts';
import { ResponseCall } from '../../schema/requests/responses.ts';
import { TaskQuoteRequest, TaskRequest } from '../../schema/requests/tasks.ts';
import { readRequest } from '../../subgraphs/graph-type.ts';
import { inputOfBody } from '../harness/doors/graph-input.ts';

const text = fc.string({ minLength: 1, maxLength: 20 });
const message = fc.record({ role: fc.constantFrom('user', 'system'), content: text });
const tool = fc.record({
  type: fc.constant('function'),
  function: fc.record({ name: text, parameters: fc.constant({ a_b: { type: 'object' } }) }),
});
const chat = fc.record(
  {
    model: text,
    max_tokens: fc.integer({ min: 1, max: 9 }),
    max_completion_tokens: fc.integer({ min: 1, max: 9 }),
    temperature: fc.constantFrom(0, 0.5, null),
    stop: fc.oneof(text, fc.array(text, { minLength: 1, maxLength: 3 })),
    stream: fc.boolean(),
    stream_options: fc.record({ include_usage: fc.boolean() }),
    tools: fc.array(tool, { maxLength: 2 }),
    response_format: fc.constantFrom({ type: 'text' }, { type: 'json_object' }),
    seed: fc.maxSafeInteger(),
    user: text,
    svc: fc.record({ failover: fc.boolean() }),
    intent_id: text,
    attempt_index: fc.nat(9),
  },
  { requiredKeys: [] },
);
const task = { message_type: 'inference_request', chain_id: '8453', amount: '2000', sender: `0x${'aB'.repeat(20)}` };
/** By the door: its name, the schema of its resolver, and bodies that it takes. */
const doors: readonly [string, string, z.ZodType<object>, fc.Arbitrary<object>][] = [
  [
    'a chat',
    'chat_completions',
    ChatRequest,
    fc
      .tuple(chat, fc.array(message, { minLength: 1, maxLength: 3 }))
      .map(([rest, messages]) => ({ ...rest, messages })),
  ],
  [
    'a response',
    'create_response',
    ResponseCall,
    fc.record(
      { input: fc.oneof(text, fc.array(message, { minLength: 1, maxLength: 3 })), instructions: text },
      { requiredKeys: ['input'] },
    ),
  ],
  [
    'an image',
    'generate_image',
    ImageRequest,
    fc.record({ prompt: text, size: fc.constantFrom('auto', '512x512') }, { requiredKeys: ['prompt'] }),
  ],
  [
    'a task',
    'request_task',
    TaskRequest,
    fc
      .record({ input_hash: fc.constant(`0x${'A'.repeat(64)}`) }, { requiredKeys: [] })
      .map(rest => ({ ...task, ...rest })),
  ],
  ['a forecast', 'quote_task', TaskQuoteRequest, fc.constant({ model_id: 'm' })],
];

describe.each(doors)('%s', (_, name, of_resolver, bodies) => {
  it('is bound to the same bytes whether its resolver believes the door or validates again', () => {
    fc.assert(
      fc.property(bodies, body => {
        const { valid, input } = inputOfBody(name, body);
        expect(readRequest(of_resolver, input, { valid_body: valid })).toBe(valid);
        expect(canonicalJson(readRequest(of_resolver, input) as Json)).toBe(canonicalJson(valid));
      }),
      { numRuns: 50 },
    );
  });

  it('is validated where what came along was made by no schema, or by another one', () => {
    const [body] = fc.sample(bodies, 1);
    const { valid, input } = inputOfBody(name, body as object);
    const elsewhere = parseBody(RegistrationRequest, { agentWallet: '0x' });
    const parse = vi.spyOn(of_resolver, 'safeParse');
    for (const other of [undefined, { ...valid }, structuredClone(valid), elsewhere])
      readRequest(of_resolver, input, other && { valid_body: other });
    expect(parse).toHaveBeenCalledTimes(4);
    readRequest(of_resolver, input, { valid_body: valid });
    expect(parse).toHaveBeenCalledTimes(4);
    parse.mockRestore();
  });
});
