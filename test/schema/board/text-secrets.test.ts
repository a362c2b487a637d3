import fc from 'fast-check';
import { english } from 'viem/accounts';
import { describe, expect, it } from 'vitest';
import { judgeText } from '../../../schema/board/text.ts';
import { ALNUM, HEX, key, keys } from '../../harness/board/issued-keys.ts';
import { prose } from '../../harness/board/prose.ts';

const CHARS_MAX = 500;
const judge = (text: string) => {
  const verdict = judgeText(text, CHARS_MAX);
  return verdict.kind === 'plain' ? 'plain' : verdict.reason;
};

describe('a text of the board', () => {
  it.each(Object.keys(keys))('is refused with a secret in it: %s', name => {
    fc.assert(
      fc.property(
        keys[name] as fc.Arbitrary<string>,
        prose,
        fc.constantFrom(' ', '\n', '"', '(', '='),
        (secret, text, before) => {
          const said = `${[...text].slice(0, 60).join('')} ${before.trim()}${secret}`;
          expect(judgeText(said, 2 * CHARS_MAX)).toEqual({ kind: 'refused', reason: 'secret' });
          expect(judgeText(`${encodeURIComponent(secret)} x`, 4 * CHARS_MAX).kind).toBe('refused');
          const hidden = `${secret.slice(0, 6)}\u200d${secret.slice(6)}`;
          expect(judgeText(hidden, 2 * CHARS_MAX).kind).toBe('refused');
        },
      ),
      { numRuns: 20 },
    );
  });

  it.each<[how: string, broken: (secret: string) => string]>([
    ['by a line', secret => `${secret.slice(0, 12)}\n${secret.slice(12)}`],
    ['by spaces', secret => [...secret].join(' ')],
    ['by dots', secret => [...secret].join('.')],
    ['by a letter that looks like one', secret => secret.replace(/h/, 'һ').replace(/g/, 'ɡ')],
    ['by accents', secret => [...secret].join('\u0301')],
  ])('is refused with a secret that is broken up %s', (_, broken) => {
    fc.assert(
      // Without a bias to small values: a random key is not made of zeros, by which it would look like a number in parts.
      fc.property(fc.noBias(key('ghp_', [ALNUM, 36])), secret => {
        expect(judgeText(`mine is ${broken(secret)} and works`, 2 * CHARS_MAX).kind).toBe('refused');
        expect(judgeText(broken(secret), 2 * CHARS_MAX)).toEqual({ kind: 'refused', reason: 'secret' });
      }),
      { numRuns: 50 },
    );
  });

  it.each<[how: string, hidden: (secret: string) => string]>([
    ['by an invisible character', secret => `${secret.slice(0, 8)}\u200d${secret.slice(8)}`],
    ['by an encoded digit', secret => `${secret.slice(0, 8)}%${secret.charCodeAt(8).toString(16)}${secret.slice(9)}`],
    ['by an encoded sign', secret => secret.replace('=', '&#61;')],
    ['by a digit of another script', secret => secret.replace(/0$/, '\uff10')],
  ])(
    'is refused with a secret whose first digits behind = read as an encoded sign of a link, hidden %s',
    (_, hidden) => {
      for (const sign of ['2e', '2f', '3a', '2E', '2F', '3A']) {
        expect(judge(hidden(`PK=${sign}${'1'.repeat(61)}0`))).toBe('secret');
        expect(judge(hidden(`api_key=${sign}Zk3q9TtWm4yB7cXv1LpR8sD5gHn4jKe0`))).toBe('secret');
        expect(judge(hidden(`digest=${sign}${'1'.repeat(61)}0`))).toBe('plain');
      }
    },
  );

  it('is refused with a key of AWS in groups, whatever stands between them', () => {
    for (const between of [' ', '-', ':', '_', '/', '*', '~', '\\_', '. '])
      expect(judge(`mine is ${['AKIA', 'IOSF', 'ODNN', '7EXA', 'MPLE'].join(between)} ok`)).toBe('secret');
  });

  it('is refused with a private key in groups whose digits and letters seldom take turns', () => {
    const secret = 'de11074927735ddee87346119288ffaa36428809cbadfe5540998172534beda2';
    for (const between of [' ', '-', ':']) expect(judge((secret.match(/.{4}/g) ?? []).join(between))).toBe('secret');
    expect(judge(Array.from({ length: 16 }, (_, index) => 1_000 + index).join(' '))).toBe('plain');
  });

  it('is refused with a private key in groups, in bytes, or by the beginnings of its words', () => {
    fc.assert(
      // Without a bias to small values: no key is made of zeros.
      fc.property(fc.noBias(key([HEX, 64])), fc.constantFrom(4, 8, 16, 32), (secret, size) => {
        const groups = secret.match(new RegExp(`.{${size}}`, 'g')) ?? [];
        for (const between of [' ', '-', ':', '_', '/', '*', '~', ' - '])
          expect(judge(`it is ${groups.join(between)}`)).toBe('secret');
      }),
    );
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 64, maxLength: 64 }), bytes => {
        expect(judge(JSON.stringify([...bytes]))).toBe('secret');
        expect(judge([...bytes].join(', '))).toBe('secret');
      }),
    );
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...english), { minLength: 12, maxLength: 24 }), words => {
        expect(judge(words.map(word => word.slice(0, 4)).join(' '))).toBe('secret');
      }),
    );
  });
});
