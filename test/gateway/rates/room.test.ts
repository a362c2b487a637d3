import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ByteQuota } from '../../../gateway/rates/rates.ts';

describe('room for bodies', () => {
  it('holds no more than it has but for one alone, forgets who holds nothing, and mixes nobody up', () => {
    const steps = fc.array(fc.tuple(fc.constantFrom('a', 'b'), fc.integer({ min: 0, max: 150 }), fc.boolean()));
    fc.assert(
      fc.property(steps, taken => {
        const room = new ByteQuota(100);
        const held = new Map<string, { readonly bytes: number; readonly release: () => void }[]>();
        const sum = (caller: string) => (held.get(caller) ?? []).reduce((bytes, it) => bytes + it.bytes, 0);
        for (const [caller, bytes, releases] of taken) {
          const mine = held.get(caller) ?? [];
          held.set(caller, mine);
          if (releases) mine.shift()?.release();
          const before = sum(caller);
          const release = room.hold(caller, bytes);
          expect(release === null).toBe(before > 0 && before + bytes > 100);
          if (release) mine.push({ bytes, release });
        }
        for (const mine of held.values()) for (const { release } of mine) release();
        expect(room.hold('a', 1_000)).not.toBeNull();
      }),
    );
  });
});
