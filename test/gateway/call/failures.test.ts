import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Failures } from '../../../gateway/call/failures.ts';
import { Meter } from '../../../gateway/rates/rate.ts';
import { limits } from '../../../schema/limits.ts';

const SECOND_MS = 1_000;

function observed(count = 3) {
  const clock = { at_ms: 1_790_000_000_000, now_ms: () => clock.at_ms };
  return { clock, failures: new Failures(new Meter({ count, seconds: 60 }, clock), clock) };
}

describe('a payer whose key’s payments are reverted', () => {
  it('rests twice as long each time, up to the rest of a contract wallet, and is forgiven after that', () => {
    const { clock, failures } = observed();
    const rest = () => failures.rest('payer', 'address', false)?.seconds ?? 0;
    const rests: number[] = [];
    for (let times = 0; times < 11; times++) {
      failures.reverted('payer');
      rests.push(rest());
      clock.at_ms += rest() * SECOND_MS;
      expect(rest()).toBe(0);
    }
    expect(rests).toEqual([2, 4, 8, 16, 32, 64, 128, 256, 512, 600, 600]);
    clock.at_ms += limits.wallet_reverted_rest_seconds * SECOND_MS;
    failures.reverted('payer');
    expect(rest()).toBe(2);
  });

  it('is nobody else', () => {
    const { failures } = observed();
    failures.reverted('payer');
    expect(failures.rest('another', 'address', true)).toBeNull();
  });
});

describe('whoever tries router keys', () => {
  it('is known by his wallet and by his address, and rests from trying alone', () => {
    fc.assert(
      fc.property(fc.constantFrom('payer', 'address'), known_by => {
        const { failures } = observed();
        for (let times = 0; times < 3; times++)
          failures.tried(
            known_by === 'payer' ? 'payer' : `payer ${times}`,
            known_by === 'address' ? 'address' : `address ${times}`,
          );
        const rest = failures.rest('payer', 'address', true);
        expect(rest?.seconds).toBeGreaterThan(0);
        expect(rest?.headers).toEqual({
          'RateLimit-Policy': '"uncharged";q=3;w=60',
          RateLimit: '"uncharged";r=0;t=60',
        });
        expect(failures.rest('payer', 'address', false)).toBeNull();
        expect(failures.rest('another', 'elsewhere', true)).toBeNull();
      }),
    );
  });
});

describe('whoever cancels tasks', () => {
  const by = (payer: string) => ({ payer, paid_from_mark: 'address' });

  it('rests from every call, by their wallet; others at their address do not, and none is counted twice', () => {
    const { failures } = observed(2);
    for (const task_id of ['one', 'two']) {
      expect(failures.rest('payer', 'address', false)).toBeNull();
      for (let heard = 0; heard < 5; heard++) failures.canceled({ task_id, by: by('payer') });
    }
    expect(failures.rest('payer', 'elsewhere', false)?.seconds).toBe(30);
    expect(failures.rest('another', 'address', true)).toBeNull();
  });

  it('by a wallet for each rests by their address, once it was ten times as often', () => {
    const { failures } = observed(2);
    for (let times = 0; times < 20; times++) {
      expect(failures.rest('another', 'address', false)).toBeNull();
      failures.canceled({ task_id: `task ${times}`, by: by(`payer ${times}`) });
    }
    expect(failures.rest('another', 'address', false)?.seconds).toBeGreaterThan(0);
    expect(failures.rest('another', 'elsewhere', false)).toBeNull();
  });
});
