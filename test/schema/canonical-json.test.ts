import { describe, expect, it } from 'vitest';
import { canonicalJson, present } from '../../schema/canonical-json.ts';
import { numbers, serialisation, sorting, unwritable } from '../harness/vectors/rfc8785.ts';

const double = (bits: string) => Buffer.from(bits, 'hex').readDoubleBE();

describe('canonical JSON against the vectors of RFC 8785', () => {
  it.each(numbers)('writes the double %s as %s', (bits, text) => {
    expect(canonicalJson(double(bits))).toBe(text);
  });

  it.each(unwritable)('refuses the double %s', bits => {
    expect(() => canonicalJson([double(bits)])).toThrow();
  });

  it('serialises the example of §3.2.2', () => {
    expect(canonicalJson(JSON.parse(serialisation.input))).toBe(serialisation.output);
  });

  it('sorts the names of §3.2.3 by UTF-16 code units', () => {
    const text = canonicalJson(JSON.parse(sorting.input));
    expect([...text.matchAll(/":"([^"]+)"/g)].map(match => match[1])).toEqual(sorting.values);
  });

  it('refuses a lone surrogate, for two readers would hash two texts', () => {
    expect(() => canonicalJson({ name: '\ud800' })).toThrow();
  });
});

it('present leaves out null and undefined, and nothing else', () => {
  expect(present({ a: null, b: undefined, c: 0, d: '', e: false })).toEqual({ c: 0, d: '', e: false });
});
