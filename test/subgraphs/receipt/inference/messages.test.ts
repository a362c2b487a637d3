import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalHash, canonicalJson, type Json, type JsonObject } from '../../../../schema/canonical-json.ts';
import { MessagesRequest } from '../../../../schema/requests/messages.ts';
import { readRequest } from '../../../../subgraphs/graph-type.ts';
import { chatRequestOf } from '../../../../subgraphs/receipt/inference/messages/chat-request.ts';
import { blocksOf, piecesOfBlocks } from '../../../../subgraphs/receipt/inference/messages/content.ts';
import { BlockEvents } from '../../../../subgraphs/receipt/inference/messages/events.ts';
import { inputOfBody } from '../../../harness/doors/graph-input.ts';

const parsed = (members: JsonObject) =>
  MessagesRequest.parse({ max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }], ...members });

describe('a request', () => {
  it('is the same by the graph, whose members are spelt otherwise, but for what is JSON', () => {
    const { valid, input } = inputOfBody('create_message', {
      max_tokens: 9,
      stop_sequences: ['a'],
      top_k: 1,
      tools: [{ name: 'f', input_schema: { properties: { in_city: { type: 'string' } } } }],
      tool_choice: { type: 'any', disable_parallel_tool_use: true },
      thinking: { type: 'enabled', budget_tokens: 9 },
      messages: [{ role: 'user', content: [{ type: 'tool_result', tool_use_id: 't', is_error: true }] }],
    });
    expect(canonicalJson(readRequest(MessagesRequest, input))).toBe(canonicalJson(valid));
  });

  it('is the same whether it says the usual, null or nothing', () => {
    const usual = { system: null, tools: [], stop_sequences: [], stream: false, tool_choice: null, thinking: null };
    expect(parsed(usual)).toEqual(parsed({}));
    expect(parsed({ output_config: { effort: null }, cache_control: null })).toEqual(parsed({}));
  });

  it('is the same with what has no effect, and refused by name with what would have one', () => {
    const ineffective = { metadata: { user_id: 'me' }, user_profile_id: 'me', service_tier: 'auto', diagnostics: {} };
    expect(parsed({ ...ineffective, speed: 'standard' })).toEqual(parsed({}));
    expect(parsed({ context_management: { edits: [] } })).toEqual(parsed({}));
    for (const name of [
      'container',
      'compaction',
      'thread',
      'fallbacks',
      'fallback_credit_token',
      'billing_policy',
      'workspace_id',
      'inference_geo',
      'speed',
    ]) {
      const { error } = MessagesRequest.safeParse({
        max_tokens: 9,
        messages: [{ role: 'user', content: 'Hi' }],
        [name]: 'x',
      });
      expect(error?.issues[0]).toMatchObject({ path: [name], message: expect.stringContaining('is not supported') });
    }
  });

  it('sends thinking back as text where nobody has signed it, and as details where it is signed or encrypted', () => {
    const turn = (signature: string): JsonObject => ({
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'Hm.', signature },
        { type: 'text', text: 'Well.' },
      ],
    });
    const redacted: JsonObject = { role: 'assistant', content: [{ type: 'redacted_thinking', data: 'ZW5j' }] };
    const { messages } = chatRequestOf(parsed({ messages: [turn(''), turn('c2ln'), redacted] }));
    expect(messages).toEqual([
      { role: 'assistant', content: 'Well.', reasoning_content: 'Hm.' },
      {
        role: 'assistant',
        content: 'Well.',
        reasoning_details: [{ type: 'reasoning.text', text: 'Hm.', signature: 'c2ln' }],
      },
      { role: 'assistant', content: '', reasoning_details: [{ type: 'reasoning.encrypted', data: 'ZW5j' }] },
    ]);
  });
});

const text = fc.string({ unit: 'binary', minLength: 1, maxLength: 9 });
const call = fc.record({
  id: text,
  type: fc.constant('function' as const),
  function: fc.record({ name: text, arguments: fc.oneof(text, fc.json(), fc.constant('')) }),
});
const message = fc.record(
  {
    role: fc.constant('assistant' as const),
    content: fc.oneof(text, fc.constant(null)),
    refusal: text,
    tool_calls: fc.array(call, { minLength: 1, maxLength: 3 }),
    reasoning_content: text,
  },
  { requiredKeys: ['role', 'content'] },
);

describe('an answer', () => {
  it('can be signed whatever a model wrote, and comes again from its pieces as it was kept', () => {
    fc.assert(
      fc.property(message, answered => {
        const content = blocksOf(answered, { thinking: 'whole' });
        expect(canonicalHash(content as unknown as Json)).toMatch(/^[0-9a-f]{64}$/);
        const events = new BlockEvents('whole');
        const told = [...piecesOfBlocks(content).flatMap(piece => [...events.of(piece)]), ...events.end()];
        const starts = told.flatMap(({ type, content_block }) =>
          type === 'content_block_start' ? [content_block] : [],
        );
        expect(starts.map(block => (block as JsonObject).type)).toEqual(content.map(({ type }) => type));
        const stops = told.flatMap(({ type, index }) => (type === 'content_block_stop' ? [index] : []));
        expect(stops).toEqual(content.map((_, at) => at));
      }),
    );
  });
});
