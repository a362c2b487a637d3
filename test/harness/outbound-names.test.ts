import { expect, it } from 'vitest';
import { reachesBeyond } from './outbound-names.ts';

it('whoever asks for a name is noticed, by http and by https, whether anybody knows it or not', async () => {
  const reached = reachesBeyond();
  for (const url of ['http://one.invalid/', 'https://two.invalid/']) await fetch(url).catch(() => null);
  expect(reached()).toEqual(['one.invalid', 'two.invalid']);
});
