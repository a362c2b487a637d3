import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toCamelKeys, toSnakeKeys } from '../../../../schema/camel.ts';
import { canonicalJson, type Json } from '../../../../schema/canonical-json.ts';
import { ResponseCall, ResponsesRequest } from '../../../../schema/requests/responses.ts';
import { type OutputItem, outcomeOf, textOf } from '../../../../subgraphs/receipt/inference/responses/output.ts';

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
        const parsed = ResponsesRequest.parse({ input, temperature, svc: { failover: false } });
        const asked = ResponseCall.parse(toSnakeKeys(toCamelKeys(parsed)));
        expect(canonicalJson(asked as Json)).toBe(canonicalJson(parsed as Json));
      }),
    );
  });
});

describe('the outcome of a hub’s reply', () => {
  const call = { id: 'call', type: 'function' as const, function: { name: 'f', arguments: '{}' } };
  const reply = fc.record({
    content: fc.option(text),
    tool_calls: fc.option(fc.array(fc.constant(call), { minLength: 1, maxLength: 3 }), { nil: undefined }),
    finish_reason: fc.constantFrom('stop', 'length', 'content_filter', 'tool_calls', null),
  });

  it('is a failure for a content filter, or for a length at which nothing was said or called; else never', () => {
    fc.assert(
      fc.property(reply, ({ finish_reason, content, tool_calls }) => {
        const message = { role: 'assistant' as const, content, ...(tool_calls ? { tool_calls } : {}) };
        const { output, fault } = outcomeOf({ choices: [{ message, finish_reason }], usage: null }, 'task');
        const nothing = !content && !tool_calls?.length;
        const failed = finish_reason === 'content_filter' || (finish_reason === 'length' && nothing);
        expect(fault !== null).toBe(failed);
        expect(textOf(output)).toBe(content ?? '');
        const calls = output.filter((item: OutputItem) => item.type === 'function_call');
        expect(calls).toHaveLength(tool_calls?.length ?? 0);
        expect(new Set(output.map(({ id }) => id)).size).toBe(output.length);
      }),
    );
  });
});
