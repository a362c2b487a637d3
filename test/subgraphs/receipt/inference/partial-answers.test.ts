import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../schema/canonical-json.ts';
import { limits } from '../../../../schema/limits.ts';
import { chatQuestion } from '../../../../subgraphs/receipt/inference/hubs/chat.ts';
import { replyQuestion } from '../../../../subgraphs/receipt/inference/responses/output.ts';

/*
 * Whole answers as hubs really send them: which members are filled in, what counts as an answer, and what does not, so that nothing is
 * charged.
 */

const request = { messages: [{ role: 'user', content: 'Hi' }], max_tokens: null, temperature: null };
const call = { id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } };
const said = { role: 'assistant', content: 'Hello' };
const usage = { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 };
const counted = {
  prompt_tokens_details: { cached_tokens: 2, audio_tokens: null },
  completion_tokens_details: { reasoning_tokens: 1 },
  cost: 0.000_228,
  cost_details: { upstream_inference_cost: null },
};
const tooDeep = { one: { two: { three: 1 } }, text: 'x' };
const deep = { one: {} };

const thought = {
  reasoning_content: 'Hm',
  reasoning: 'Hm',
  reasoning_details: [{ type: 'reasoning.text', text: 'Hm', index: 0, signature: null }, nested(2)],
};
function nested(levels: number): JsonObject {
  return levels === 0 ? {} : { a: nested(levels - 1) };
}

describe.each([
  ['a chat', chatQuestion(request)],
  ['a response', replyQuestion(request)],
])('%s', (_, question) => {
  const read = (body: object) => question.read(Buffer.from(JSON.stringify(body)));
  const ended = (message: object, finish_reason: unknown) => read({ choices: [{ index: 0, message, finish_reason }] });

  it.each<[string, object, unknown, string]>([
    ['text without a finish reason', said, null, 'stop'],
    ['text whose finish reason is left out', said, undefined, 'stop'],
    ['a call without a finish reason', { ...said, content: null, tool_calls: [call] }, null, 'tool_calls'],
    ['an empty text that ended by itself', { ...said, content: '' }, 'stop', 'stop'],
    ['no text, since its tokens were used up', { ...said, content: null }, 'length', 'length'],
    ['no text, since it was withheld', { ...said, content: null }, 'content_filter', 'content_filter'],
    ['a refusal alone', { role: 'assistant', content: null, refusal: 'No.' }, 'stop', 'stop'],
    ['a message that says not whose it is', { content: 'Hello' }, 'stop', 'stop'],
    ['a message whose role is empty, as its finish reason', { role: '', content: 'Hello' }, '', 'stop'],
    ['only thought, since its tokens were used up', { content: null, reasoning: 'Hm' }, 'length', 'length'],
  ])('takes %s for an answer', (_name, message, finish_reason, reason) => {
    expect(ended(message, finish_reason)).toMatchObject({ choices: [{ finish_reason: reason }] });
  });

  it.each<[string, object]>([
    ['nothing', {}],
    ['no choice', { choices: [] }],
    ['null that ended by itself', { choices: [{ message: { ...said, content: null }, finish_reason: 'stop' }] }],
    ['null without a reason', { choices: [{ message: { ...said, content: null } }] }],
    ['only thought', { choices: [{ message: { content: null, reasoning: 'Hm' }, finish_reason: 'stop' }] }],
    [
      'an empty text where a call was to come',
      { choices: [{ message: { content: '' }, finish_reason: 'tool_calls' }] },
    ],
    ['what its hub says it failed at', { choices: [{ message: said, finish_reason: 'error' }] }],
    ['an error beside it', { choices: [{ message: said }], error: { message: 'overloaded' } }],
    ['a message of somebody else', { choices: [{ message: { role: 'user', content: 'Hi' } }] }],
    ['a choice without a message', { choices: [{ index: 0, finish_reason: 'length' }] }],
    ['an error', { error: { message: 'overloaded' } }],
  ])('takes %s for no answer', (_name, body) => {
    expect(read(body)).toBeNull();
  });

  it.each<[string, unknown, JsonObject | null]>([
    ['whole', usage, usage],
    ['without its sum', { prompt_tokens: 3, completion_tokens: 1 }, usage],
    ['empty', {}, null],
    ['of one kind alone', { prompt_tokens: 3 }, null],
    ['null', null, null],
    ['left out', undefined, null],
    ['with flags in its details', { ...usage, a_details: { b: true } }, { ...usage, a_details: { b: true } }],
    ['with details of every kind', { ...usage, ...counted }, { ...usage, ...counted }],
    [
      'with what is neither a number nor a flag',
      { ...usage, cost: '7', is_byok: false, models: [1], Named: true, deep: tooDeep },
      { ...usage, is_byok: false, deep },
    ],
    ['with what it does not count', { ...usage, prompt_tokens_details: null, cost_details: 7, cost: null }, usage],
    ['a sum that the graph cannot say', { prompt_tokens: 2 ** 31 - 1, completion_tokens: 1 }, null],
  ])('usage that is %s', (_name, given, kept) => {
    expect(read({ choices: [{ message: said }], usage: given })?.usage).toEqual(kept);
  });

  it.each<[string, object, object]>([
    ['in all members that hubs have for it', thought, thought],
    ['empty', { reasoning_content: '', reasoning: null, reasoning_details: [] }, {}],
    ['of another shape', { reasoning: { effort: null }, reasoning_details: ['x'], reasoning_content: 7 }, {}],
    ['with half of a surrogate pair', { reasoning: 'a\ud800' }, { reasoning: 'a\ufffd' }],
    ['with such in a detail', { reasoning_details: [{ text: '\udc00' }] }, { reasoning_details: [{ text: '\ufffd' }] }],
    ['with a detail that is too deep', { reasoning_details: [nested(limits.reasoning_details_depth_max)] }, {}],
    ['with too many details', { reasoning_details: Array(limits.reasoning_details_max + 1).fill({}) }, {}],
    [
      'with details of too many members',
      {
        reasoning_details: [
          Object.fromEntries(Array.from({ length: limits.reasoning_details_members_max + 1 }, (__, n) => [n, 0])),
        ],
      },
      {},
    ],
  ])('reasoning %s', (_name, given, kept) => {
    expect(read({ choices: [{ message: { ...said, ...given } }] })?.choices[0].message).toEqual({ ...said, ...kept });
  });
});
