import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalJson, type Json } from '../../../../schema/canonical-json.ts';
import { parseRequest } from '../../../../schema/requests/parse.ts';
import { ResponseCall, ResponsesRequest } from '../../../../schema/requests/responses.ts';
import { reasoningToReturn } from '../../../../schema/requests/returned-reasoning.ts';
import { readRequest } from '../../../../subgraphs/graph-type.ts';
import {
  howResponseEnded,
  type OutputItem,
  replyOutcome,
  textOf,
} from '../../../../subgraphs/receipt/inference/responses/output.ts';
import { inputOfBody } from '../../../harness/doors/graph-input.ts';

const text = fc.string({ unit: 'grapheme' });
const canonical = (body: unknown) => canonicalJson(ResponsesRequest.parse(body) as Json);

describe('a responses request', () => {
  it('is the same whether it says a text or one message of the user’s, whole or in parts', () => {
    fc.assert(
      fc.property(text, text, (one, other) => {
        const parts = [one, other].map(part => ({ type: 'input_text', text: part }));
        const whole = canonical({ input: one + other });
        expect(canonical({ input: [{ role: 'user', content: one + other }] })).toBe(whole);
        expect(canonical({ input: [{ type: 'message', role: 'user', content: parts }] })).toBe(whole);
      }),
    );
  });

  it('is the same after a way through the graph: what the door binds a payment to is what the field does', () => {
    fc.assert(
      fc.property(text, fc.option(fc.double({ min: 0, max: 2, noNaN: true })), (input, temperature) => {
        const asked = inputOfBody('create_response', { input, temperature, svc: { failover: false } });
        const read = readRequest(ResponseCall, asked.input);
        expect(canonicalJson(read as Json)).toBe(canonicalJson(asked.valid));
      }),
    );
  });

  it('is the same whatever summary of reasoning it asks for', () => {
    const plain = canonical({ input: 'x' });
    expect(canonical({ input: 'x', reasoning: { summary: 'auto', generate_summary: 'concise' } })).toBe(plain);
  });

  const thought = (members: object) => [
    { type: 'reasoning', summary: [], ...members },
    { role: 'user', content: 'x' },
  ];
  const base64 = (value: Json) => Buffer.from(canonicalJson(value)).toString('base64');

  it('has reasoning as the hub gave it where it was kept so, and as text where another service encrypted it', () => {
    const content = [{ type: 'reasoning_text', text: 'Hm.' }];
    const kept = reasoningToReturn({
      reasoning: 'Hm.',
      reasoning_details: [{ type: 'reasoning.text', signature: 'c2ln' }],
    });
    const [turn] = ResponsesRequest.parse({ input: thought({ content, encrypted_content: kept }) }).input;
    expect(turn).toEqual({
      role: 'assistant',
      content: null,
      reasoning: 'Hm.',
      reasoning_details: [{ type: 'reasoning.text', signature: 'c2ln' }],
    });
    for (const encrypted_content of ['gAAAAABo', base64({ encrypted: true }), ''])
      expect(canonical({ input: thought({ content, encrypted_content }) })).toBe(
        canonical({ input: thought({ content }) }),
      );
  });

  it.each<[string, object, string]>([
    [
      'kept reasoning that was changed',
      { encrypted_content: base64({ svc_reasoning: { reasoning: 7 } }) },
      'input.0.encrypted_content',
    ],
    [
      'an unknown member of a thought',
      { content: [{ type: 'reasoning_text', text: 'Hm.', by: 'me' }] },
      'input.0.content.0.by',
    ],
  ])('is refused by name with %s', (_, members, param) => {
    const refused = () => parseRequest(ResponsesRequest, { input: thought(members) });
    expect(refused).toThrow(expect.objectContaining({ extensions: expect.objectContaining({ param }) }));
  });
});

describe('the outcome of a hub’s reply', () => {
  const call = { id: 'call', type: 'function' as const, function: { name: 'f', arguments: '{}' } };
  const reply = fc.record({
    content: fc.option(text),
    tool_calls: fc.option(fc.array(fc.constant(call), { minLength: 1, maxLength: 3 }), { nil: undefined }),
    finish_reason: fc.constantFrom('stop', 'length', 'content_filter', 'tool_calls'),
  });

  it('is incomplete for a content filter, or for a length at which something is cut short or nothing was said; else never', () => {
    fc.assert(
      fc.property(reply, ({ finish_reason, content, tool_calls }) => {
        const message = { role: 'assistant' as const, content, ...(tool_calls ? { tool_calls } : {}) };
        const { output, fault } = replyOutcome(
          { choices: [{ index: 0, message, finish_reason }], usage: null },
          { task_id: 'task', returnable: false },
        );
        const nothing = !content && !tool_calls?.length;
        const faulty = finish_reason === 'content_filter' || (finish_reason === 'length' && nothing);
        expect(fault !== null).toBe(faulty);
        const incomplete = finish_reason === 'content_filter' || finish_reason === 'length';
        expect(howResponseEnded(output, fault).status).toBe(incomplete ? 'incomplete' : 'completed');
        expect(textOf(output)).toBe(content ?? '');
        const calls = output.filter((item: OutputItem) => item.type === 'function_call');
        expect(calls).toHaveLength(tool_calls?.length ?? 0);
        expect(new Set(output.map(({ id }) => id)).size).toBe(output.length);
      }),
    );
  });
});
