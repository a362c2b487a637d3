import fc from 'fast-check';
import { expect, it } from 'vitest';
import { writeTwice } from '../../../rest-compat/faces/mcp/write-twice.ts';

const asWritten = (json: string) => writeTwice('{"is":', json, ',"said":', '}').toString();
const byNode = (json: string) => `{"is":${json},"said":${JSON.stringify(json)}}`;

it('whatever JSON there is, it stands there as it is and as V8 would quote it', () => {
  fc.assert(fc.property(fc.json({ stringUnit: 'binary' }), json => void expect(asWritten(json)).toBe(byNode(json))));
});

it('JSON with line breaks or other control characters between its members is written by V8, and reads the same', () => {
  const spaced = fc.tuple(fc.jsonValue(), fc.constantFrom(1, '\t', '\r\n', '\u0001'));
  fc.assert(
    fc.property(spaced, ([value, space]) => {
      const json = JSON.stringify(value, null, space);
      expect(asWritten(json)).toBe(byNode(json));
    }),
  );
});

it('quotes and backslashes alone make the longest text, and it has room', () => {
  const json = JSON.stringify('"\\'.repeat(50_000));
  expect(asWritten(json)).toBe(byNode(json));
});

it.each(['1', '"', '[]', '"a"', '[""]', '{"a":"\\\\"}'])(
  'of %s, of an odd or an even number of bytes, the last is as it is',
  json => {
    expect(asWritten(json)).toBe(byNode(json));
  },
);

it.each(['[]\n', '[1]\n', '\n[]', '\n[1]'])(
  'a control character is found at either place of a pair, and as the last byte: %j',
  json => {
    expect(asWritten(json)).toBe(byNode(json));
  },
);

it('text of several bytes a character keeps them', () => {
  const json = JSON.stringify({ 'ключ "ä"': '漢字 🙂 \u2028 \u007f' });
  expect(asWritten(json)).toBe(byNode(json));
});
