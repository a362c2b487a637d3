import canonicalize from 'canonicalize';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalJson, type Json, present } from '../../schema/canonical-json.ts';
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

describe('canonical JSON beside the library for RFC 8785', () => {
  /** The text; null if the value has none. */
  const outcome = (write: () => string | undefined) => {
    try {
      return write() ?? null;
    } catch {
      return null;
    }
  };
  const same = (value: unknown): void => {
    expect(outcome(() => canonicalJson(value as Json))).toBe(outcome(() => canonicalize(value)));
  };
  const name = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('10', '9', '__proto__', 'toJSON', '', 'a"b'));
  const leaf = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.string(),
    fc.double(),
    fc.integer(),
    fc.boolean(),
    fc.constantFrom(null, undefined, '\ud800', -0, Number.NaN, new Date(0), new Map(), 10n, Symbol('s')),
  );
  const { value } = fc.letrec(tie => ({
    value: fc.oneof({ maxDepth: 5 }, leaf, tie('list'), tie('object')),
    list: fc.array(tie('value'), { maxLength: 5 }),
    object: fc.dictionary(name, tie('value'), { maxKeys: 6, noNullPrototype: false }),
  }));

  it('writes or refuses every value as the library does', () => {
    fc.assert(fc.property(value, same), { numRuns: 2_000 });
  });

  it('writes every JSON text as the library does', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 6 }), text => same(JSON.parse(text))),
      { numRuns: 2_000 },
    );
  });

  it.each([
    ['a list that is nested deeper than the stack allows', JSON.parse(`${'['.repeat(5_000)}${']'.repeat(5_000)}`)],
    ['an object with a toJSON of its own', { at: { toJSON: () => 'one' } }],
    ['a boxed string', { at: Object('one') }],
    ['a list with a hole', [1, undefined, 2]],
  ])('%s', (_, unusual) => same(unusual));
});

it('present leaves out null and undefined, and nothing else', () => {
  expect(present({ a: null, b: undefined, c: 0, d: '', e: false })).toEqual({ c: 0, d: '', e: false });
});
