import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readIdempotencyKey } from '../../schema/idempotency-key.ts';
import { limits } from '../../schema/limits.ts';

const visible = fc.string({
  unit: fc.integer({ min: 0x21, max: 0x7e }).map(code => String.fromCharCode(code)),
  minLength: 1,
  maxLength: limits.idempotency_key_chars_max,
});
/** RFC 9651 3.3.3: as a structured field spells it. */
const quoted = (key: string) => `"${key.replace(/[\\"]/g, '\\$&')}"`;

describe('an Idempotency-Key', () => {
  it('is the same bare and quoted, whatever visible ASCII it holds', () => {
    fc.assert(
      fc.property(visible, key => {
        expect(readIdempotencyKey(quoted(key))).toBe(key);
        // What looks like a quoted one is that.
        if (!/^".*"$/.test(key)) expect(readIdempotencyKey(key)).toBe(key);
      }),
    );
  });

  it.each([
    ['the example of the draft', '"8e03978e-40d5-43e8-bc93-6894a57f9324"', '8e03978e-40d5-43e8-bc93-6894a57f9324'],
    ['as most clients send it', 'KG5LxwFBepaKHyUD', 'KG5LxwFBepaKHyUD'],
    ['as long as it may be', 'k'.repeat(255), 'k'.repeat(255)],
  ])('%s', (_, header, key) => {
    expect(readIdempotencyKey(header)).toBe(key);
  });

  it.each(['', '""', ' ', 'two words', '"two words"', 'one, other', 'k'.repeat(256), 'ümlaut', 'tab\there'])(
    'is none: %j',
    header => {
      expect(readIdempotencyKey(header)).toBe(null);
    },
  );
});
