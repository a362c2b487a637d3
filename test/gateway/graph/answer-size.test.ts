import { describe, expect, it } from 'vitest';
import { withinAnswerSize } from '../../../gateway/graph/answer-size.ts';
import { limits } from '../../../schema/limits.ts';
import { Written } from '../../../schema/written.ts';
import { ResponseHeaders } from '../../../subgraphs/context.ts';

const MAX = limits.graphql_answer_bytes_max;
const text = (bytes: number) => 'x'.repeat(bytes);
const HALF = text(MAX / 2);

function toldOf(data: Record<string, unknown>, headers: Record<string, string> = {}) {
  const response = Object.assign(new ResponseHeaders(), { headers });
  return withinAnswerSize({ data }, { response });
}

describe('an answer of the graph', () => {
  it.each<[string, Record<string, unknown>]>([
    ['one text', { a: text(MAX - 1) }],
    ['texts of a list', { a: [HALF, text(MAX / 2 - 1)] }],
    ['text that is written already', { a: { b: new Written(text(MAX - 2)) } }],
    ['text of more bytes than characters', { a: `${'é'.repeat(MAX / 2 - 1)}x` }],
    ['names', { [text(MAX - 1)]: 'x' }],
  ])('that is as large as it may be goes out, and of a byte more an error: %s', (_, data) => {
    expect(toldOf(data)).toEqual({ data });
    const { data: told, errors } = toldOf({ ...data, b: null });
    expect([told, errors?.[0]?.extensions]).toEqual([null, { code: 'answer_too_large', status: 413, max: MAX }]);
  });

  it('says that what was paid for is kept', () => {
    const { errors } = toldOf({ a: HALF, b: HALF }, { 'PAYMENT-RESPONSE': 'settled' });
    expect(errors?.[0]?.extensions).toMatchObject({ code: 'answer_too_large', charged: true });
    expect(errors?.[0]?.message).toContain('send the same request with the same payment');
  });
});
