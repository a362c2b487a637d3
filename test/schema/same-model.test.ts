import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isSameModel } from '../../schema/dispute/same-model.ts';

/* Which name of a model in a hub's answer is that of the model that it was asked for: a part of rule 4 of disputes and of receipt policy 9. */

describe('isSameModel', () => {
  it.each([
    ['gpt-4o', 'gpt-4o'],
    ['gpt-4o', 'gpt-4o-2024-08-06'],
    ['gpt-4', 'gpt-4-0613'],
    ['mistral-large', 'mistral-large-2407'],
    ['claude-3-5-sonnet', 'claude-3-5-sonnet-20240620'],
    ['claude-3-5-sonnet', 'claude-3-5-sonnet@20240620'],
    ['gemini-1.5-pro', 'gemini-1.5-pro-002'],
    ['openai/gpt-4o', 'gpt-4o'],
    ['gpt-4o', 'openai/gpt-4o-2024-08-06'],
    ['accounts/fireworks/models/llama-v3p1-8b', 'llama-v3p1-8b'],
    ['router/openai/gpt-4o', 'openai/gpt-4o'],
    ['router/openai/gpt-4o', 'gpt-4o-2024-08-06'],
  ])('%s is answered as %s: the same', (requested, answered) => {
    expect(isSameModel(requested, answered)).toBe(true);
  });

  it.each([
    ['gpt-4', 'gpt-4-turbo'],
    ['gpt-4o', 'gpt-4o-mini'],
    ['gpt-4o', 'gpt-4o-mini-2024-07-18'],
    ['gpt-4o-2024-05-13', 'gpt-4o-2024-08-06'],
    ['gpt-4o-2024-08-06', 'gpt-4o'],
    ['gpt-4', 'gpt-4-1106-preview'],
    ['gpt-4o', 'gpt-4o-2024-13-06'],
    ['gpt-4o', 'gpt-4o-2024-08-36'],
    ['gpt-4o', 'gpt-4o2024-08-06'],
    ['gpt-4o', 'gpt-4o:2024-08-06'],
    ['llama-3', 'llama-3-70b'],
    ['claude-3', 'claude-3-5'],
    ['claude-3-5-sonnet-latest', 'claude-3-5-sonnet-20241022'],
    ['model', 'model-000'],
    ['model', 'model-8'],
    ['model', 'model-v2'],
    ['model', 'model:free'],
    ['model', 'Model'],
    ['one/model', 'two/model'],
    ['model', 'model-0613-0613'],
    ['provider/', 'gpt-4o'],
    ['model', ''],
  ])('%s is answered as %s: another one', (requested, answered) => {
    expect(isSameModel(requested, answered)).toBe(false);
  });
});

const id = fc.stringMatching(/^[a-z][a-z0-9.-]{0,20}[a-z]$/);
const provider = fc.stringMatching(/^[a-z]{1,8}$/);
const two = (number: number) => String(number).padStart(2, '0');
const date = fc
  .record({
    year: fc.integer({ min: 2000, max: 2099 }),
    month: fc.integer({ min: 1, max: 12 }),
    day: fc.integer({ min: 1, max: 31 }),
  })
  .map(({ year, month, day }) => ({ year: String(year), month: two(month), day: two(day) }));
const version = fc.oneof(
  date.map(({ year, month, day }) => `${year}-${month}-${day}`),
  date.map(({ year, month, day }) => year + month + day),
  date.map(({ month, day }) => month + day),
  fc.integer({ min: 1, max: 9 }).map(number => `00${number}`),
);

describe('isSameModel, of any id', () => {
  it('takes one version behind it, by - or @, with a provider before either of both names', () => {
    fc.assert(
      fc.property(id, provider, version, fc.constantFrom('-', '@'), fc.nat(2), (model, by, dated, sign, where) => {
        const [before, after] = [where === 1 ? `${by}/` : '', where === 2 ? `${by}/` : ''];
        expect(isSameModel(before + model, after + model + sign + dated)).toBe(true);
        expect(isSameModel(before + model, after + model)).toBe(true);
      }),
    );
  });

  it('takes nothing else behind it, and never a longer id for a shorter one', () => {
    fc.assert(
      fc.property(id, fc.stringMatching(/^[-@:._a-z0-9]{1,12}$/), (model, behind) => {
        fc.pre(!/^[-@](?:\d{4}-?\d{2}-?\d{2}|\d{4}|00\d)$/.test(behind));
        expect(isSameModel(model, model + behind)).toBe(false);
      }),
    );
  });

  it('never takes a model of another provider', () => {
    fc.assert(
      fc.property(id, provider, provider, version, (model, one, other, dated) => {
        fc.pre(one !== other && one !== 'router');
        expect(isSameModel(`${one}/${model}`, `${other}/${model}-${dated}`)).toBe(false);
      }),
    );
  });
});
