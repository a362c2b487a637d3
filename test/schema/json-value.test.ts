import fc from 'fast-check';
import { expect, it } from 'vitest';
import { canonicalJson, type Json } from '../../schema/canonical-json.ts';
import { jsonFault, mendedJson } from '../../schema/json-value.ts';

/* Which JSON values can be passed on, and what those are mended to that cannot. */

const HALF = 'a\ud800';
const text = fc.oneof({ weight: 9, arbitrary: fc.string() }, { weight: 1, arbitrary: fc.constant(HALF) });
const number = fc.oneof(
  { weight: 9, arbitrary: fc.double({ noNaN: true, noDefaultInfinity: true }) },
  { weight: 1, arbitrary: fc.constantFrom(Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY) },
);
const { tree } = fc.letrec<{ tree: Json }>(tie => ({
  tree: fc.oneof(
    { depthSize: 'small' },
    text,
    number,
    fc.constantFrom(null, true, false),
    fc.array(tie('tree'), { maxLength: 4 }),
    fc.dictionary(text, tie('tree'), { maxKeys: 4 }),
  ),
}));

const depthOf = (value: Json): number =>
  typeof value === 'object' && value !== null ? 1 + Math.max(0, ...Object.values(value).map(depthOf)) : 0;
const membersOf = (value: Json): number =>
  typeof value === 'object' && value !== null
    ? Object.values(value).reduce<number>((sum, member) => sum + 1 + membersOf(member), 0)
    : 0;
const hasCanonicalForm = (value: Json) => {
  try {
    canonicalJson(value);
    return true;
  } catch {
    return false;
  }
};

const bounds = fc.record({ depth_max: fc.integer({ min: 0, max: 4 }), members_max: fc.integer({ min: 0, max: 12 }) });

it('a value has no fault where it is within its bounds and has a canonical form', () => {
  fc.assert(
    fc.property(tree, bounds, (value, bound) => {
      const is_within = depthOf(value) <= bound.depth_max && membersOf(value) <= bound.members_max;
      expect(jsonFault(value, bound) === null).toBe(is_within && hasCanonicalForm(value));
    }),
  );
});

it('values within their bounds are mended to what has a canonical form, and are left as they are where they have one', () => {
  fc.assert(
    fc.property(fc.array(tree, { maxLength: 3 }), bounds, (values, bound) => {
      const members = values.reduce<number>((sum, value) => sum + membersOf(value), 0);
      const is_within = values.every(value => depthOf(value) <= bound.depth_max) && members <= bound.members_max;
      const mended = mendedJson(values, bound);
      expect(mended !== null).toBe(is_within);
      if (mended === null) return;
      expect(mended.every(hasCanonicalForm)).toBe(true);
      if (values.every(hasCanonicalForm)) expect(mended).toEqual(values);
    }),
  );
});

it.each<[Json, string]>([
  [{ [HALF]: 1 }, 'contains an unpaired surrogate'],
  [[HALF, [[]]], 'contains an unpaired surrogate'],
  [[Number.POSITIVE_INFINITY], 'contains a number beyond the range of IEEE doubles'],
  [[[[]], HALF], 'is nested more than 2 levels deep'],
  [[1, 2, 3, 4], 'has more than 3 members'],
])('the first fault of %j is that it %s', (value, fault) => {
  expect(jsonFault(value, { depth_max: 2, members_max: 3 })).toBe(fault);
});

it('half of a surrogate pair becomes U+FFFD, and a number beyond every other null', () => {
  const value = { [HALF]: [HALF, Number.POSITIVE_INFINITY, 1, true, null] };
  expect(mendedJson([value], { depth_max: 2, members_max: 6 })).toEqual([
    { 'a\ufffd': ['a\ufffd', null, 1, true, null] },
  ]);
});
