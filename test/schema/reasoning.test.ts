import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { joinedReasoning, mergedDetails, type Reasoning, reasoningOf, reasoningText } from '../../schema/reasoning.ts';

const index = fc.constantFrom(0, 1, null, undefined);
const members = fc.record(
  { signature: fc.option(fc.string()), format: fc.option(fc.constantFrom('anthropic-claude-v1', 'unknown')) },
  { requiredKeys: [] },
);
const text = fc.option(fc.string({ maxLength: 5 }), { nil: undefined });
const detail: fc.Arbitrary<JsonObject> = fc
  .oneof(
    fc.record({ type: fc.constant('reasoning.text'), text, index }),
    fc.record({ type: fc.constant('reasoning.summary'), summary: text, index }),
    fc.record({ type: fc.constant('reasoning.encrypted'), data: fc.string({ maxLength: 5 }), index }),
    fc.record({ type: fc.constantFrom('reasoning.text', 'reasoning.other', 7), text: fc.constantFrom(7, 'x'), index }),
  )
  .chain(made => members.map(more => JSON.parse(JSON.stringify({ ...made, ...more })) as JsonObject));
const details = fc.array(detail, { maxLength: 12 });

const joinMembers = (list: readonly JsonObject[], type: string, member: string) =>
  list.map(one => (one.type === type && typeof one[member] === 'string' ? one[member] : '')).join('');

describe('the details of reasoning', () => {
  it('lose no text, and come to the same wherever a stream is cut', () => {
    fc.assert(
      fc.property(details, fc.nat(12), (list, at) => {
        const merged = mergedDetails(list);
        expect(mergedDetails([...mergedDetails(list.slice(0, at)), ...mergedDetails(list.slice(at))])).toEqual(merged);
        expect(mergedDetails(merged)).toEqual(merged);
        expect(joinMembers(merged, 'reasoning.text', 'text')).toBe(joinMembers(list, 'reasoning.text', 'text'));
        expect(joinMembers(merged, 'reasoning.summary', 'summary')).toBe(
          joinMembers(list, 'reasoning.summary', 'summary'),
        );
        const opaque = (one: JsonObject) => one.type !== 'reasoning.text' && one.type !== 'reasoning.summary';
        expect(merged.filter(opaque)).toEqual(list.filter(opaque));
      }),
    );
  });

  it('are one entry where they continue each other, and the signature that comes last is kept', () => {
    const piece = { type: 'reasoning.text', index: 0, format: 'anthropic-claude-v1' };
    const other = { ...piece, index: 1, text: 'c' };
    const sealed = { type: 'reasoning.encrypted', index: 1, data: 'E' };
    const merged = mergedDetails([
      { ...piece, text: 'a', signature: null },
      { ...piece, text: 'b' },
      { ...piece, signature: 'S' },
      other,
      sealed,
      sealed,
    ]);
    expect(merged).toEqual([{ ...piece, text: 'ab', signature: 'S' }, other, sealed, sealed]);
  });
});

describe('reasoning', () => {
  const texts = fc.string({ maxLength: 5 });
  const piece: fc.Arbitrary<Reasoning> = fc
    .record({ reasoning_content: texts, reasoning: texts, reasoning_details: details.map(mergedDetails) })
    .map(reasoningOf);

  it('is the same in whatever order its pieces are joined', () => {
    fc.assert(
      fc.property(piece, piece, piece, (one, two, three) => {
        const joined = joinedReasoning(joinedReasoning(one, two), three);
        expect(joinedReasoning(one, joinedReasoning(two, three))).toEqual(joined);
        expect(joinedReasoning(joined, {})).toEqual(joined);
      }),
    );
  });

  it.each<[Reasoning, string]>([
    [{ reasoning_content: 'a', reasoning: 'a' }, 'a'],
    [{ reasoning: 'b', reasoning_details: [{ type: 'reasoning.text', text: 'b' }] }, 'b'],
    [
      {
        reasoning_details: [
          { type: 'reasoning.summary', summary: 'c' },
          { type: 'reasoning.encrypted', data: 'E' },
        ],
      },
      'c',
    ],
    [{ reasoning_details: [{ type: 'reasoning.encrypted', data: 'E' }] }, ''],
    [{}, ''],
  ])('%j reads as %j', (reasoning, read) => {
    expect(reasoningText(reasoning)).toBe(read);
  });
});
