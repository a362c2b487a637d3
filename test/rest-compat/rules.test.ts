import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { withoutNulls } from '../../rest-compat/omit-nulls.ts';
import { problem } from '../../rest-compat/problem.ts';
import { toCamelKeys, toSnakeKeys } from '../../schema/camel.ts';
import { type ErrorCode, errors } from '../../schema/errors.ts';

const snake = fc.stringMatching(/^[a-z][a-z0-9]{0,6}(_[a-z][a-z0-9]{0,6}){0,3}$/);
const { tree } = fc.letrec(tie => ({
  tree: fc.oneof({ maxDepth: 3 }, fc.integer(), fc.string(), fc.constant(null), fc.array(tie('tree')), tie('object')),
  object: fc.dictionary(snake, tie('tree')),
}));

describe('case', () => {
  it('camelCase and back is the same value', () => {
    fc.assert(
      fc.property(tree, value => {
        expect(toSnakeKeys(toCamelKeys(value))).toEqual(value);
      }),
    );
  });
  it('agentWallet keeps its spelling', () => {
    expect(toCamelKeys({ a_b: { c_d: 1 }, agentWallet: '0x' })).toEqual({ aB: { cD: 1 }, agentWallet: '0x' });
    expect(toSnakeKeys({ aB: { cD: 1 }, agentWallet: '0x' })).toEqual({ a_b: { c_d: 1 }, agentWallet: '0x' });
  });
});

describe('problem', () => {
  const codes = Object.keys(errors) as ErrorCode[];

  it('keeps its members whatever facts come along', () => {
    fc.assert(
      fc.property(fc.constantFrom(...codes), fc.dictionary(fc.string(), fc.string()), (code, facts) => {
        const hostile = { ...facts, type: 'x', status: 1, error: 'x', code: 'x' };
        const { status, body } = problem({ code, facts: hostile });
        expect(status).toBe(errors[code][0]);
        expect(JSON.parse(String(body ?? ''))).toMatchObject({ status, code, title: errors[code][1], error: { code } });
      }),
    );
  });
});

it('null members go where the column says, one level deep', () => {
  const body = { cap: null, entries: [{ a: null, b: null, c: { d: null } }], totals: { x: null } };
  const expected = { cap: null, entries: [{ b: null, c: { d: null } }], totals: {} };
  expect(withoutNulls(body, { entries: ['b'], totals: [] })).toEqual(expected);
});
