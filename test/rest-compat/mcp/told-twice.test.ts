import fc from 'fast-check';
import { expect, test } from 'vitest';
import { toldTwice } from '../../../rest-compat/faces/mcp/told-twice.ts';

const asWritten = (json: string) => toldTwice('{"is":', json, ',"said":', '}').toString();
const byNode = (json: string) => `{"is":${json},"said":${JSON.stringify(json)}}`;

test('whatever JSON there is, it stands there as it is and as V8 would quote it', () => {
  fc.assert(fc.property(fc.json({ stringUnit: 'binary' }), json => void expect(asWritten(json)).toBe(byNode(json))));
});

test('so does JSON with line breaks and other control characters between its members', () => {
  const spaced = fc.tuple(fc.jsonValue(), fc.constantFrom(1, '\t', '\r\n', '\u0001'));
  fc.assert(
    fc.property(spaced, ([value, space]) => {
      const json = JSON.stringify(value, null, space);
      expect(asWritten(json)).toBe(byNode(json));
    }),
  );
});

test('quotes and backslashes alone make the longest text, and it has room', () => {
  const json = JSON.stringify('"\\'.repeat(50_000));
  expect(asWritten(json)).toBe(byNode(json));
});

test('text of several bytes a character keeps them', () => {
  const json = JSON.stringify({ 'ключ "ä"': '漢字 🙂 \u2028 \u007f' });
  expect(asWritten(json)).toBe(byNode(json));
});
