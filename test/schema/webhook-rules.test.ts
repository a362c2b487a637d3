import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { webhookLimits } from '../../schema/limits.ts';
import { usualWebhookKinds, type WebhookEvent, webhookKindsOf } from '../../schema/webhook/kinds.ts';
import { afterFailedAttempt, afterPostponement, restMs, retryAfterMs } from '../../schema/webhook/retry.ts';
import { secretFault, standardKey, webhookSecret } from '../../schema/webhook/secret.ts';
import { webhookUrl } from '../../schema/webhook/url.ts';

const { retry_ms, retry_jitter, message_ms_max, retry_after_ms_max } = webhookLimits;
const random = fc.double({ min: 0, max: 1, noNaN: true });

describe('a message that failed', () => {
  it('is sent again by the schedule, a fifth later at most, and given up after the last', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 20 }), random, (attempts, drawn) => {
        const next = afterFailedAttempt({ attempts, since_ms: 0 }, { now_ms: 0, random: drawn, retry_after_ms: null });
        const wait_ms = retry_ms[attempts - 1];
        if (wait_ms === undefined) {
          expect(next).toEqual({ kind: 'dead' });
          return;
        }
        if (next.kind !== 'retry') throw new Error('it was given up');
        expect(next.at_ms).toBeGreaterThanOrEqual(wait_ms);
        expect(next.at_ms).toBeLessThanOrEqual(wait_ms * (1 + retry_jitter) + 1);
      }),
    );
  });

  it('is over within four days, whatever its receiver asks for', () => {
    fc.assert(
      fc.property(random, fc.option(fc.integer({ min: 0, max: 10 * retry_after_ms_max })), (drawn, retry_after_ms) => {
        let now_ms = 0;
        for (let attempts = 1; ; attempts++) {
          const next = afterFailedAttempt({ attempts, since_ms: 0 }, { now_ms, random: drawn, retry_after_ms });
          if (next.kind === 'dead') break;
          now_ms = next.at_ms;
        }
        expect(now_ms).toBeLessThanOrEqual(message_ms_max);
      }),
    );
  });

  it('without such a wish it takes more than three', () => {
    const total_ms = retry_ms.reduce((sum, wait_ms) => sum + wait_ms, 0);
    expect(total_ms).toBeGreaterThan(72 * 3_600_000);
    expect(total_ms * (1 + retry_jitter)).toBeLessThan(message_ms_max);
  });

  it('waits for longer where its receiver asks so, and never for less', () => {
    const at = (retry_after_ms: number) =>
      afterFailedAttempt({ attempts: 1, since_ms: 0 }, { now_ms: 0, random: 0, retry_after_ms });
    expect(at(60_000)).toEqual({ kind: 'retry', at_ms: 60_000 });
    expect(at(1)).toEqual({ kind: 'retry', at_ms: retry_ms[0] });
    expect(at(10 * retry_after_ms_max)).toEqual({ kind: 'retry', at_ms: retry_after_ms_max });
  });

  it('is put off no further than it is kept', () => {
    expect(afterPostponement({ since_ms: 0 }, message_ms_max)).toEqual({ kind: 'retry', at_ms: message_ms_max });
    expect(afterPostponement({ since_ms: 0 }, message_ms_max + 1)).toEqual({ kind: 'dead' });
  });
});

describe('a receiver that fails', () => {
  it('rests from the fifth failure on, for longer with each, and never for more than a day', () => {
    expect([1, 2, 3, 4].map(restMs)).toEqual([0, 0, 0, 0]);
    expect(restMs(5)).toBe(webhookLimits.rest_ms_min);
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1_000_000 }), failures => {
        expect(restMs(failures + 1)).toBeGreaterThanOrEqual(restMs(failures));
        expect(restMs(failures)).toBeLessThanOrEqual(webhookLimits.long_rest_ms);
      }),
    );
  });

  it.each<[string | null, number | null]>([
    [null, null],
    ['120', 120_000],
    ['Thu, 01 Jan 1970 00:01:40 GMT', 90_000],
    ['Thu, 01 Jan 1970 00:00:01 GMT', 0],
    ['soon', null],
    ['-5', null],
  ])('Retry-After %s is %s ms', (header, expected) => {
    expect(retryAfterMs(header, 10_000)).toBe(expected);
  });
});

describe('which events a webhook is told of', () => {
  const born = (evidence: string, collected = false): WebhookEvent => ({ kind: 'born', body: { evidence, collected } });
  it.each<[string, WebhookEvent, readonly string[]]>([
    ['a call whose transfer was seen', born('collected', true), ['settle', 'collected']],
    ['a call on a facilitator’s word', born('RECORDED_BY_SETTLE'), ['settle']],
    [
      'its money, once it is seen',
      { kind: 'transition', body: { evidence: 'collected', collected: true } },
      ['collected'],
    ],
    [
      'its money, where it never came',
      { kind: 'transition', body: { evidence: 'ARRIVAL_UNVERIFIED', collected: false } },
      [],
    ],
    ['a call by key', born('UNVERIFIED'), []],
    ['an inflow', born('inflow_claimed'), ['inflow']],
    ['a refused call', born('policy_blocked'), ['policy_blocked']],
    ['a replay', { kind: 'replay', body: {} }, []],
    ['an alert', { kind: 'alert', body: {} }, []],
  ])('%s', (_, event, kinds) => {
    expect(webhookKindsOf(event, usualWebhookKinds)).toEqual(kinds);
    expect(webhookKindsOf(event, [])).toEqual([]);
  });

  it('alerts for whoever asks for them', () => {
    expect(webhookKindsOf({ kind: 'alert', body: {} }, ['alert'])).toEqual(['alert']);
    expect(usualWebhookKinds).not.toContain('alert');
  });

  it('an amount that was given up for whoever asks for it', () => {
    const body = { evidence: 'ARRIVAL_UNVERIFIED', amount: null, born: { amount: '2000' } };
    expect(webhookKindsOf({ kind: 'transition', body }, ['given_up'])).toEqual(['given_up']);
    const arrived = { evidence: 'collected', collected: true, amount: '2000', born: { amount: '2000' } };
    expect(webhookKindsOf({ kind: 'transition', body: arrived }, ['given_up'])).toEqual([]);
    expect(webhookKindsOf({ kind: 'correction', body: {} }, ['given_up'])).toEqual([]);
    expect(usualWebhookKinds).not.toContain('given_up');
  });
});

describe('a secret', () => {
  it('that is made here is one that may be given, and its key is what it encodes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 24, maxLength: 64 }), bytes => {
        const secret = webhookSecret(bytes);
        expect(secretFault(secret)).toBeNull();
        expect(standardKey(secret)).toEqual(Buffer.from(bytes));
      }),
    );
  });
});

describe('a URL', () => {
  it('whose host is an address is none, however that is spelt', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 0xffff_ffff }), number => {
        const hex = number.toString(16);
        for (const host of [String(number), `0x${hex}`, `0${number.toString(8)}`, `[::ffff:${hex.slice(-4)}]`])
          expect(webhookUrl(`https://${host}/`, 'public').kind).toBe('refused');
      }),
    );
  });

  it.each(['http://127.0.0.1:8080/', 'http://localhost/', 'https://localhost:1/'])('under test alone it is %s', url => {
    expect(webhookUrl(url, 'local').kind).toBe('url');
    expect(webhookUrl(url, 'public').kind).toBe('refused');
  });

  it.each(['ftp://hooks.example.com/', 'file:///etc/passwd', 'javascript:0', '//hooks.example.com/'])(
    'is never %s',
    url => {
      expect(webhookUrl(url, 'local').kind).toBe('refused');
      expect(webhookUrl(url, 'public').kind).toBe('refused');
    },
  );

  it('may name its port', () => {
    expect(webhookUrl('https://hooks.example.com:8443/in', 'public').kind).toBe('url');
    expect(webhookUrl('https://hooks.example.com:443/in', 'public').kind).toBe('url');
    expect(webhookUrl('https://hooks.example.com:22/in', 'public').kind).toBe('refused');
  });
});
