import { describe, expect, it } from 'vitest';
import { Turns } from '../../gateway/payment/turns.ts';

describe('taking turns', () => {
  it('lets so many at a time, in the order of arrival, and gives a turn back where the work fails', async () => {
    const turns = new Turns({ at_once_max: 2, wait_ms_max: 60_000 });
    let at_once = 0;
    let most = 0;
    const begun: number[] = [];
    const work = async (number: number) => {
      begun.push(number);
      most = Math.max(most, ++at_once);
      await new Promise(setImmediate);
      at_once--;
      if (number % 3 === 0) throw new Error('failed');
      return { number };
    };
    const numbers = Array.from({ length: 12 }, (_, number) => number);
    const done = await Promise.allSettled(numbers.map(number => turns.take(() => work(number))));
    expect(done.filter(({ status }) => status === 'rejected')).toHaveLength(4);
    expect(begun).toEqual(numbers);
    expect(most).toBe(2);
  });

  it('goes without where none comes in time, and takes none from those behind', async () => {
    const turns = new Turns({ at_once_max: 1, wait_ms_max: 1 });
    const first = Promise.withResolvers<object>();
    const taking = turns.take(() => first.promise);
    expect(await turns.take(async () => ({}))).toBeNull();
    first.resolve({});
    expect(await taking).toEqual({});
    expect(await turns.take(async () => ({}))).toEqual({});
  });
});
