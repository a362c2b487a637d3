import { describe, expect, it } from 'vitest';
import { answeredRoute } from '../../../../subgraphs/receipt/inference/answered-model.ts';
import { answeredModelOf } from '../../../../subgraphs/receipt/inference/hubs/verdict.ts';

const hub = {
  name: 'north',
  base_url: 'https://north.example/v1',
  api_key: 'k',
  models: ['small', 'large', 'old'],
  image_models: ['draws'],
  aliases: { small: ['tiny-7', 'large-2'], large: ['huge', 'draws'] },
};

describe('answeredRoute', () => {
  it.each([
    ['the very model', 'small', null],
    ['a version of it', 'small-2024-08-06', null],
    ['it with a provider before it', 'maker/small', null],
    ['an alias of it', 'tiny-7', 'small'],
    ['an alias of it that could be another one, too', 'large-2', 'small'],
    ['another id', 'large', 'large'],
    ['another id, which is an alias of a third one', 'draws', 'draws'],
    ['an alias of another one', 'huge', 'large'],
    ['a version of another one', 'maker/old-001', 'old'],
    ['nothing of the catalogue', 'medium', null],
  ])('says of %s (%s) which id of the catalogue it names: %s', (_, answered_model, id) => {
    const route = answeredRoute([hub], { hub: 'north', model: 'small' }, answered_model);
    expect(route).toMatchObject({ hub: 'north', model: 'small', answered_model });
    expect(route.answered_catalogue_model ?? null).toBe(id);
  });

  it('says nothing where the hub named none, and of the router, which has no catalogue here', () => {
    expect(answeredRoute([hub], { hub: 'north', model: 'small' }, null)).toEqual({
      hub: 'north',
      model: 'small',
      answered_model: null,
    });
    const routed = answeredRoute([hub], { hub: 'router', model: 'router/a/b' }, 'c/d');
    expect(routed).toEqual({ hub: 'router', model: 'router/a/b', answered_model: 'c/d' });
  });
});

describe('answeredModelOf', () => {
  const published = new Set(['north/small']);
  const secrets = ['north', 'sk-live-0123456789abcdef'];

  it.each([['gpt-4o-2024-08-06'], ['Meta Llama 3.1'], ['ä'], ['north/small'], ['x'.repeat(200)]])('%s: kept', named => {
    expect(answeredModelOf(named, published, secrets)).toBe(named);
  });

  it.each<[string, unknown]>([
    ['longer than an id', 'x'.repeat(201)],
    ['empty', ''],
    ['of spaces', '  '],
    ['in several lines', 'gpt\n4'],
    ['with spaces around it', ' gpt-4 '],
    ['drawn in another order', 'gpt\u202e4'],
    ['half of a pair', 'gpt\ud800'],
    ['a number', 4],
    ['an object', { id: 'gpt-4' }],
    ['nothing', undefined],
    ['a key of ours', 'gpt-4 sk-live-0123456789abcdef'],
    ['the host of a hub', 'model-at-NORTH'],
    ['an account', 'org-AbCdEf0123456789'],
    ['an address', 'http://10.0.0.7/v1'],
    ['a machine', '10.0.0.7'],
  ])('%s: none', (_, named) => {
    expect(answeredModelOf(named, published, secrets)).toBeNull();
  });
});
