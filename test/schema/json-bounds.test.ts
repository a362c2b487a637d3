import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findExceededBound, type JsonExtent, namesEachOnce, repeatedName } from '../../schema/json-bounds.ts';
import { limits } from '../../schema/limits.ts';

const bytes = (text: string) => Buffer.from(text);

/** What JSON.parse has made of it. */
function extentOf(value: unknown): JsonExtent {
  if (typeof value !== 'object' || value === null) return { depth: 0, members: 0 };
  const inner = Object.values(value).map(extentOf);
  return {
    depth: 1 + Math.max(0, ...inner.map(({ depth }) => depth)),
    members: inner.length + inner.reduce((sum, { members }) => sum + members, 0),
  };
}

/** The same as the pass over its bytes finds it: what it lets through, and one less of which it does not. */
function isExactly(text: string, { depth, members }: JsonExtent): boolean {
  return (
    findExceededBound(bytes(text), { depth, members }) === null &&
    (depth === 0 || findExceededBound(bytes(text), { depth: depth - 1, members }) === 'depth') &&
    (members === 0 || findExceededBound(bytes(text), { depth, members: members - 1 }) === 'members')
  );
}

describe('how deep and how large a JSON text is, found without parsing it', () => {
  it('is what JSON.parse makes of it, however it is spaced', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), fc.constantFrom(undefined, 1, '\t', '\r\n '), (value, space) => {
        const text = JSON.stringify(value, null, space as string);
        expect(isExactly(text, extentOf(JSON.parse(text)))).toBe(true);
      }),
      { numRuns: 500 },
    );
  });

  it('is not touched by what stands in strings, escaped or not', () => {
    const mark = fc.constantFrom('"', '\\', '[', ']', '{', '}', ',', ':', ' ', 'ü', '\u2028', 'a', '\ud83d\ude00');
    const text = fc.string({ unit: mark });
    fc.assert(
      fc.property(fc.dictionary(text, fc.array(text)), value => {
        const json = JSON.stringify(value);
        expect(isExactly(json, extentOf(JSON.parse(json)))).toBe(true);
      }),
      { numRuns: 500 },
    );
  });

  it('comes to an end on anything', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('"', '\\', '[', ']', '{', '}', ',', ' ', '1') }), text => {
        expect([null, 'depth', 'members']).toContain(findExceededBound(bytes(text)));
      }),
    );
  });

  it.each<[string, string, ReturnType<typeof findExceededBound>]>([
    ['as deep as may be', `${'['.repeat(limits.json_depth_max)}${']'.repeat(limits.json_depth_max)}`, null],
    ['one deeper', `${'{"a":'.repeat(limits.json_depth_max)}[]${'}'.repeat(limits.json_depth_max)}`, 'depth'],
    ['a megabyte of nested lists', '['.repeat(1024 * 1024), 'depth'],
    ['as many members as may be', `[${'1,'.repeat(limits.json_members_max - 1)}1]`, null],
    ['one more', `[${'1,'.repeat(limits.json_members_max)}1]`, 'members'],
    ['a megabyte of empty lists', `[${'[],'.repeat(300_000)}[]]`, 'members'],
  ])('%s', (_, text, exceeded) => {
    expect(findExceededBound(bytes(text))).toBe(exceeded);
  });
});

describe('a name that an object has twice', () => {
  const twice = (text: string) => [namesEachOnce(bytes(text), JSON.parse(text)), repeatedName(bytes(text))];

  it('is found at any depth and in any spelling, and told', () => {
    expect(twice('{"a":1,"b":{"a":1}}')).toEqual([true, null]);
    expect(twice('[{"a":1},{"a":2}]')).toEqual([true, null]);
    expect(twice('{"a":1,"b":[{"c":1,"c":2}]}')).toEqual([false, 'c']);
    expect(twice('{"a":1 , "\\u0061" : 2}')).toEqual([false, 'a']);
    expect(twice('{"__proto__":1,"__proto__":2}')).toEqual([false, '__proto__']);
    expect(twice('{"a:":"\\":,","b":"{:"}')).toEqual([true, null]);
  });

  it('is in nothing that was written from an object', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), value => {
        expect(twice(JSON.stringify(value))).toEqual([true, null]);
      }),
      { numRuns: 500 },
    );
  });
});
