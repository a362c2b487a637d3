import fc from 'fast-check';
import { GraphQLError } from 'graphql';
import { describe, expect, it } from 'vitest';
import { answerText, readAnswer } from '../../../../gateway/graph/remote/answer.ts';
import { Refusal } from '../../../../schema/errors.ts';
import { jsonText, RawJson } from '../../../../schema/json-text.ts';

/** What a caller would be sent of it. */
const callerAnswer = (text: string) => {
  const answer = readAnswer(text);
  return answer && { headers: answer.headers, data: JSON.parse(jsonText(answer.result.data)) };
};

describe('the answer of a subgraph over the wire', () => {
  it('is what it was: headers and data, whatever of it was written before and whatever stands in it', () => {
    const written = fc.json().map(text => new RawJson(text));
    const { data } = fc.letrec<{ data: unknown; member: unknown }>(tie => ({
      data: fc.dictionary(fc.string(), tie('member'), { maxKeys: 4, noNullPrototype: true }),
      member: fc.oneof({ maxDepth: 3 }, fc.jsonValue(), written, tie('data')),
    }));
    fc.assert(
      fc.property(data, fc.dictionary(fc.string(), fc.string(), { noNullPrototype: true }), (any, headers) => {
        const result = { data: any as Record<string, unknown> };
        expect(callerAnswer(answerText({ headers, result }))).toEqual({ headers, data: JSON.parse(jsonText(any)) });
      }),
    );
  });

  it('hands on what was written as it was written, to the letter', () => {
    const page = new RawJson('[ {"seq":1.0,\n "text":"é\\u00e9"} ]');
    const answer = readAnswer(answerText({ headers: {}, result: { data: { book: { entries: page } } } }));
    expect(jsonText(answer?.result)).toBe(`{"data":{"book":{"entries":${page.text}}}}`);
  });

  it('is none where it was cut off, or has more than it told of', () => {
    const data = { book: { entries: new RawJson('[1,2,3]'), at: '2026-01-01' } };
    const text = answerText({ headers: {}, result: { data } });
    for (let length = 0; length < text.length; length++) expect(readAnswer(text.slice(0, length))).toBeNull();
    expect(readAnswer(`${text} `)).toBeNull();
  });

  it('brings a refusal back with all that it says; what nobody here knows is our own fault', () => {
    const refusal = new Refusal('payment_required', { facts: { answer_headers: { 'PAYMENT-REQUIRED': 'x' } } });
    const strange = new GraphQLError('From another version', { extensions: { code: 'of_tomorrow' } });
    const errors = [refusal, strange].map(error => error.toJSON()) as unknown as GraphQLError[];
    const answer = readAnswer(answerText({ headers: {}, result: { data: null, errors } }));
    expect(answer?.result.errors?.map(({ extensions }) => extensions)).toEqual([
      refusal.extensions,
      { code: 'internal', status: 500 },
    ]);
  });
});
