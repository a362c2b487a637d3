import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CompressedStart, END_BYTES_MAX } from '../../../rest-compat/faces/mcp/compressed-start.ts';

/* A text that is compressed once and ended differently for each response. */

const decoded = { gzip: gunzipSync, br: brotliDecompressSync } as const;

describe.each(['gzip', 'br'] as const)('a compressed start in %s', coding => {
  it('is, with each end, the text', async () => {
    const ends = fc.oneof(fc.string({ minLength: 1, unit: 'binary' }), fc.constant('x'.repeat(END_BYTES_MAX)));
    const starts = fc.oneof(fc.string({ unit: 'binary' }), fc.constant('start é '.repeat(5_000)));
    await fc.assert(
      fc.asyncProperty(starts, fc.array(ends, { minLength: 1, maxLength: 3 }), async (text, several) => {
        const start = new CompressedStart(text);
        for (const end of several) {
          const forms = start.endingIn(end);
          const whole = Buffer.from(text + end);
          expect(forms.plain.equals(whole)).toBe(true);
          expect(
            decoded[coding](await forms.in(coding)).equals(Buffer.concat([Buffer.from(text), Buffer.from(end)])),
          ).toBe(true);
        }
      }),
      { numRuns: 20 },
    );
  });
});

it('an empty end and one that is too long are errors of the caller', () => {
  const start = new CompressedStart('start');
  for (const end of ['', 'x'.repeat(END_BYTES_MAX + 1)]) expect(() => start.endingIn(end)).toThrow(RangeError);
});
