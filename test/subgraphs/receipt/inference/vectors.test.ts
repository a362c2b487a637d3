import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalJson, type Json } from '../../../../schema/canonical-json.ts';
import {
  canonicalData,
  dataCharsMin,
  type EncodingFormat,
  fromBase64,
  type HubEmbedding,
  toBase64,
  vectorsIn,
} from '../../../../subgraphs/receipt/inference/embeddings/vectors.ts';

const float32 = fc.float({ noNaN: true, noDefaultInfinity: true });
const vector = (length: number) => fc.array(float32, { minLength: length, maxLength: length });
const vectors = fc
  .record({ length: fc.integer({ min: 1, max: 40 }), count: fc.integer({ min: 1, max: 8 }) })
  .chain(({ length, count }) => fc.array(vector(length), { minLength: count, maxLength: count }));
const format = fc.constantFrom<EncodingFormat>('float', 'base64');

/** Reads base64 as OpenAI's official client does, on a machine of any byte order. */
function readByView(text: string): number[] {
  const { buffer, byteOffset, byteLength } = Buffer.from(text, 'base64');
  const view = new DataView(buffer, byteOffset, byteLength);
  return Array.from({ length: byteLength / 4 }, (_, at) => view.getFloat32(at * 4, true));
}

it('float32 numbers are the same bits after base64 and back, the sign of zero included', () => {
  fc.assert(
    fc.property(fc.array(float32, { minLength: 1 }), numbers => {
      expect(fromBase64(toBase64(numbers))).toEqual(numbers);
      expect(readByView(toBase64(numbers))).toEqual(numbers);
    }),
  );
});

it('base64 of a double is that of the float32 next to it', () => {
  fc.assert(
    fc.property(fc.double({ min: -3e38, max: 3e38, noNaN: true }), number => {
      expect(fromBase64(toBase64([number]))).toEqual([Math.fround(number)]);
    }),
  );
});

it('whichever form the hub takes, and whichever is asked for: the same numbers, and one canonical form', () => {
  fc.assert(
    fc.property(vectors, format, format, (given, sent, encoding_format) => {
      const data = given.map((numbers, index) => ({
        index,
        embedding: sent === 'base64' ? toBase64(numbers) : numbers,
      }));
      const texts = vectorsIn(data, { count: given.length, encoding_format, dimensions: null }) ?? [];
      const read = texts.map(text => JSON.parse(text) as Json);
      const numbers = encoding_format === 'base64' ? read.map(text => fromBase64(String(text))) : read;
      // JSON has only one zero (RFC 8785 section 3.2.2.3), base64 has both.
      const expected = encoding_format === 'base64' ? given : given.map(each => each.map(number => number + 0));
      expect(numbers).toEqual(expected);
      expect(canonicalData(texts)).toBe(canonicalJson(JSON.parse(canonicalData(texts)) as Json));
    }),
  );
});

it('any order in which a hub names them is the order of the inputs', () => {
  fc.assert(
    fc.property(fc.shuffledSubarray([0, 1, 2, 3, 4, 5], { minLength: 6 }), order => {
      const data = order.map(index => ({ index, embedding: [index] }));
      const texts = vectorsIn(data, { count: 6, encoding_format: 'float', dimensions: 1 });
      expect(texts).toEqual(['[0]', '[1]', '[2]', '[3]', '[4]', '[5]']);
    }),
  );
});

it('the size that follows from a request is that of its answer in base64, and never more than that of its numbers', () => {
  fc.assert(
    fc.property(vectors, format, (given, encoding_format) => {
      const wanted = { count: given.length, encoding_format, dimensions: given[0]?.length ?? 0 };
      const data = given.map((numbers, index) => ({ index, embedding: numbers }));
      const { length } = canonicalData(vectorsIn(data, wanted) ?? []);
      if (encoding_format === 'base64') expect(dataCharsMin(wanted)).toBe(length);
      expect(dataCharsMin(wanted)).toBeLessThanOrEqual(length);
      expect(dataCharsMin({ ...wanted, dimensions: null })).toBeLessThanOrEqual(length);
    }),
  );
  const zeros = Array.from({ length: 3 }, () => '[0,0]');
  expect(dataCharsMin({ count: 3, encoding_format: 'float', dimensions: 2 })).toBe(canonicalData(zeros).length);
});

describe('no vectors are', () => {
  const item = (embedding: unknown, index = 0) => ({ index, embedding });
  it.each<[string, readonly HubEmbedding[]]>([
    ['nothing', []],
    ['one vector too few', [item([1, 2, 3])]],
    ['one vector too many', [0, 1, 2].map(index => item([1, 2, 3], index))],
    ['one input twice', [item([1, 2, 3]), item([1, 2, 3])]],
    ['an input that was not sent', [item([1, 2, 3]), item([1, 2, 3], 2)]],
    ['vectors of two lengths', [item([1, 2, 3]), item([1, 2], 1)]],
    ['another length than was asked for', [item([1, 2]), item([1, 2], 1)]],
    ['an empty vector', [item([]), item([], 1)]],
    ['null in a vector', [item([1, null, 3]), item([1, 2, 3], 1)]],
    ['digits in a text', [item(['1', '2', '3']), item([1, 2, 3], 1)]],
    ['a number beyond float32', [item([1e39, 2, 3]), item([1, 2, 3], 1)]],
    ['what is no base64', [item('not base64!'), item([1, 2, 3], 1)]],
    ['bytes that are no float32', [item('AAAAAAA='), item([1, 2, 3], 1)]],
    ['an infinite float32', [item(toBase64([Infinity, 2, 3])), item([1, 2, 3], 1)]],
    ['a float32 that is no number', [item(toBase64([Number.NaN, 2, 3])), item([1, 2, 3], 1)]],
    ['no vector', [{ index: 0 }, item([1, 2, 3], 1)]],
  ])('%s', (_, data) => {
    for (const encoding_format of ['float', 'base64'] as const)
      expect(vectorsIn(data, { count: 2, encoding_format, dimensions: 3 })).toBeNull();
  });

  it('while these are: two of three numbers', () => {
    const data = [item([1, 2, 3]), item(toBase64([4, 5, 6]), 1)];
    expect(vectorsIn(data, { count: 2, encoding_format: 'float', dimensions: 3 })).toEqual(['[1,2,3]', '[4,5,6]']);
  });
});
