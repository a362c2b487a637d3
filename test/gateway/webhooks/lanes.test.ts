import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type LaneName, Lanes, type Place } from '../../../gateway/webhooks/lanes.ts';

const sizes = { prompt: 2, untried: 2, slow: 1 };

async function placeIn(lanes: Lanes, lane: LaneName): Promise<Place> {
  const taken = await lanes.take(lane, 0);
  if (taken.kind !== 'place') throw new Error('full');
  return taken.place;
}

describe('places for attempts', () => {
  it('whoever hangs moves over to the slow, and leaves its place to the prompt', async () => {
    const lanes = new Lanes(sizes);
    const [hanging] = [await placeIn(lanes, 'prompt'), await placeIn(lanes, 'prompt')];
    const waiting = lanes.take('prompt', 0);
    expect(hanging?.moveAside()).toBe(true);
    expect((await waiting).kind).toBe('place');
  });

  it('where the slow have no place either it makes room, and those who never answered are told to come again', async () => {
    const lanes = new Lanes(sizes);
    await placeIn(lanes, 'slow');
    const untried = [await placeIn(lanes, 'untried'), await placeIn(lanes, 'untried')];
    expect(untried[0]?.moveAside()).toBe(false);
    expect(await lanes.take('untried', 0)).toMatchObject({ kind: 'full' });
    expect((await lanes.take('prompt', 0)).kind).toBe('place');
  });

  it('who is turned away comes again one after the other, within a minute', async () => {
    const lanes = new Lanes(sizes);
    await placeIn(lanes, 'slow');
    let before = 0;
    for (let turned = 0; turned < 100; turned++) {
      const taken = await lanes.take('slow', 0);
      if (taken.kind !== 'full') throw new Error('a place');
      expect(taken.wait_ms).toBeGreaterThanOrEqual(before);
      expect(taken.wait_ms).toBeLessThanOrEqual(60_000);
      before = taken.wait_ms;
    }
  });

  it('all are free again, however they were held', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.constantFrom<LaneName>('prompt', 'untried', 'slow'), fc.boolean()), { maxLength: 50 }),
        async steps => {
          const lanes = new Lanes(sizes);
          for (const [lane, aside] of steps) {
            const place = await placeIn(lanes, lane);
            if (aside) place.moveAside();
            place.leave();
            place.leave();
          }
          for (const [lane, size] of Object.entries(sizes) as [LaneName, number][])
            for (let index = 0; index < size; index++) await placeIn(lanes, lane);
          expect(await lanes.take('slow', 0)).toMatchObject({ kind: 'full' });
        },
      ),
    );
  });
});
