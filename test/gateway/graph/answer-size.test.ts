import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { textWithin, withinAnswerSize } from '../../../gateway/graph/answer-size.ts';
import { Refusal } from '../../../schema/errors.ts';
import { jsonText, RawJson } from '../../../schema/json-text.ts';
import { limits } from '../../../schema/limits.ts';
import { ResponseHeaders } from '../../../subgraphs/context.ts';

const MAX = limits.graphql_answer_bytes_max;
const MIB = 1024 * 1024;
const text = (bytes: number) => 'x'.repeat(bytes);
const bytesOf = (result: object) => Buffer.byteLength(jsonText(result));
const inContext = (headers: Record<string, string> = {}) => ({
  response: Object.assign(new ResponseHeaders(), { headers }),
});

const measure = (data: Record<string, unknown>, headers: Record<string, string> = {}) =>
  withinAnswerSize({ data }, inContext(headers));
const TOO_LARGE = { code: 'answer_too_large', status: 413, max: MAX };
const codesOf = ({ errors = [] }: ReturnType<typeof withinAnswerSize>) =>
  errors.map(({ extensions }) => extensions.code);

const FILLER = '1'.repeat(MAX);

/** The same data, and beside it what makes it as large as that. */
function filled(data: Record<string, unknown>, bytes: number): Record<string, unknown> {
  const rest = bytes - bytesOf({ data: { ...data, filler: new RawJson('') } });
  expect(rest).toBeGreaterThan(0);
  return { ...data, filler: new RawJson(FILLER.slice(0, rest)) };
}

describe('an answer of the graph', () => {
  it.each<[string, Record<string, unknown>]>([
    ['one text', { a: text(MIB) }],
    ['texts of a list', { a: [text(MIB), text(MIB)] }],
    ['text that is written already', { a: { b: new RawJson(text(MIB)) } }],
    ['text of more bytes than characters', { a: 'é'.repeat(MIB) }],
    ['names', { [text(MIB)]: 'x' }],
    ['text that is escaped', { a: '\n'.repeat(MIB), b: '\u0001'.repeat(MIB), c: '"\\'.repeat(MIB) }],
    ['halves of surrogate pairs', { a: '\ud800'.repeat(MIB / 4) }],
    ['numbers', { a: Array.from({ length: MIB / 4 }, (_, n) => n / 7) }],
    ['lists in lists, and what is nothing', { a: Array.from({ length: MIB / 4 }, () => [null, true, false, {}]) }],
  ])('that is as large as it may be goes out, and of a byte more an error: %s', (_, data) => {
    const most = filled(data, MAX);
    expect(measure(most).data).toBe(most);
    const { data: told, errors } = measure(filled(data, MAX + 1));
    expect([told, errors?.[0]?.extensions]).toEqual([null, TOO_LARGE]);
  });

  it('is measured as it is written, whatever stands in it', () => {
    const value = fc.letrec<{ value: unknown }>(tie => ({
      value: fc.oneof(
        { maxDepth: 3 },
        fc.constantFrom(null, true, false, undefined, Number.NaN, -0),
        fc.integer(),
        fc.double(),
        fc.string({ unit: 'binary' }),
        fc.string({ unit: fc.constantFrom('"', '\\', '\n', '\0', '\u001f', '\u007f', '\u2028', '\ud83d', '\ude00') }),
        fc.array(tie('value')),
        fc.dictionary(fc.string({ unit: 'binary' }), tie('value'), { noNullPrototype: true }),
      ),
    })).value;
    fc.assert(
      fc.property(value, any => {
        const most = filled({ any }, MAX);
        expect(measure(most).data).toBe(most);
        expect(codesOf(measure(filled({ any }, MAX + 1)))).toEqual(['answer_too_large']);
      }),
      { numRuns: 30 },
    );
  });

  it.each<[string, Record<string, unknown>]>([
    ['control characters of a third of it', { a: '\u0001'.repeat(MAX / 3) }],
    ['three million numbers', { a: Array.from({ length: 3_000_000 }, (_, n) => n / 7) }],
    ['four of one text of line breaks', Object.fromEntries([...'abcd'].map(name => [name, '\n'.repeat(4 * MIB - 64)]))],
  ])('is too large by what JSON makes of it: %s', (_, data) => {
    expect(codesOf(measure(data))).toEqual(['answer_too_large']);
  });

  it('is measured with its errors, which stand beside the new one where there is room for them', () => {
    const refused = (bytes: number) => new Refusal('forbidden', { detail: text(bytes) });
    const data = { a: text(MAX / 2) };
    expect(codesOf(withinAnswerSize({ data, errors: [refused(MAX / 4)] }, inContext()))).toEqual(['forbidden']);
    const both = ['forbidden', 'answer_too_large'];
    expect(codesOf(withinAnswerSize({ data, errors: [refused(MAX / 2)] }, inContext()))).toEqual(both);
    expect(codesOf(withinAnswerSize({ data, errors: [refused(MAX)] }, inContext()))).toEqual(['answer_too_large']);
  });

  it('says that what was paid for is kept', () => {
    const { errors } = measure({ a: text(MAX) }, { 'PAYMENT-RESPONSE': 'settled' });
    expect(errors?.[0]?.extensions).toMatchObject({ code: 'answer_too_large', charged: true });
    expect(errors?.[0]?.message).toContain('send the same request with the same payment');
  });

  it('is measured once more as text, with what is written around it', () => {
    const writeWithin = (max: number) =>
      textWithin(max, { data: { a: 'text' } }, inContext(), result => `<${jsonText(result)}>`);
    const whole = '<{"data":{"a":"text"}}>';
    expect(writeWithin(whole.length)).toBe(whole);
    expect(writeWithin(whole.length - 1)).toMatch(/^<\{"data":null,"errors":\[\{.*"code":"answer_too_large".*\}\]\}>$/);
  });
});
