import fc from 'fast-check';
import { expect, it } from 'vitest';
import { sha256Hex } from '../../schema/digest.ts';
import { isMeantForSlice, shownSlice, sliceToken } from '../../schema/slice-token.ts';

const randoms = fc.uint8Array({ minLength: 32, maxLength: 32 });

it('a token is known where it is shown by its hash alone', () => {
  fc.assert(
    fc.property(randoms, random => {
      const token = sliceToken(random);
      expect(isMeantForSlice(token)).toBe(true);
      expect(shownSlice(token)).toEqual({ kind: 'shown', token_hash: sha256Hex(token) });
    }),
  );
});

it('a token with one character altered, cut off or added is none, and nobody need be asked', () => {
  fc.assert(
    fc.property(randoms, fc.nat(), fc.constantFrom('0', 'a', 'Z', '-', '_', ' ', '\n'), (random, at, character) => {
      const token = sliceToken(random);
      const index = at % token.length;
      const altered = token.slice(0, index) + character + token.slice(index + 1);
      if (altered !== token) expect(shownSlice(altered)).toEqual({ kind: 'wrong' });
      expect(shownSlice(token + character)).toEqual({ kind: 'wrong' });
      expect(shownSlice(token.slice(0, index))).toEqual({ kind: 'wrong' });
    }),
  );
});
