import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { refusalId } from '../../../../schema/ids.ts';
import { limits } from '../../../../schema/limits.ts';
import { judge } from '../../../../subgraphs/receipt/claim/claim.machine.ts';

describe('judging a second use', () => {
  const unsent = { published: false, bound: false, possessed_by: null, router_key_mark: null, failures: 0 } as const;
  const standing = { task_id: 't1', request_hash: 'r', leased: true, refusal_id: null, ...unsent } as const;
  const use = { task_id: 't2', request_hash: 'r', spent: false, possessed_by: null, router_key_mark: null };
  it.each([
    ['claimed', true, use, 'in_flight'],
    ['claimed', false, use, 'in_flight'],
    ['settling', true, use, 'in_flight'],
    ['settling', false, use, 'pending'],
    ['held', false, use, 'pending'],
    ['held', false, { ...use, request_hash: 'other' }, 'foreign'],
    ['recorded', false, use, 'replayed'],
    ['recorded', false, { ...use, request_hash: 'other' }, 'foreign'],
    ['settling', false, { ...use, request_hash: 'other' }, 'foreign'],
    ['settling', false, { ...use, router_key_mark: 'other' }, 'foreign'],
    ['recorded', false, { ...use, router_key_mark: 'other' }, 'foreign'],
    ['released', false, { ...use, request_hash: 'other' }, 'claimed'],
    ['claimed', true, { ...use, task_id: 't1' }, 'claimed'],
  ] as const)('%s, leased %s', (state, leased, incoming, kind) => {
    expect(judge({ ...standing, state, leased }, incoming).kind).toBe(kind);
  });

  it('says of a payment that serves another request whether that one is settled', () => {
    const other = { ...use, request_hash: 'other' };
    const settled = (state: 'claimed' | 'settling' | 'held' | 'recorded') => judge({ ...standing, state }, other);
    for (const state of ['held', 'recorded'] as const)
      expect(settled(state)).toEqual({ kind: 'foreign', settled: true });
    for (const state of ['claimed', 'settling'] as const)
      expect(settled(state)).toEqual({ kind: 'foreign', settled: false });
  });

  it('gives a payment that others may have read to nobody but the request and the agent that it was made for', () => {
    const possessor = fc.constantFrom(null, 1, 2);
    const hash = fc.constantFrom('r', 'other');
    fc.assert(
      fc.property(possessor, possessor, hash, fc.boolean(), fc.boolean(), (made, shown, request_hash, sent, spent) => {
        const released = { ...standing, state: 'released', possessed_by: made, published: sent } as const;
        const mine = request_hash === 'r' && (made === null || made === shown);
        const verdict = judge(released, { ...use, request_hash, possessed_by: shown, spent });
        expect(verdict.kind).toBe((sent || spent) && !mine ? 'foreign' : 'claimed');
      }),
    );
  });

  it('takes a payment no more that came to nothing five times by its callers, but owes what its money has come for', () => {
    fc.assert(
      fc.property(fc.nat(12), fc.boolean(), fc.constantFrom('r', 'other'), (failures, spent, request_hash) => {
        const released = { ...standing, state: 'released', failures } as const;
        const { kind } = judge(released, { ...use, request_hash, spent });
        if (spent) expect(kind).toBe(request_hash === 'r' ? 'claimed' : 'foreign');
        else expect(kind).toBe(failures >= limits.payment_failures_max ? 'lapsed' : 'claimed');
      }),
    );
  });

  it('gives the refusal again to the request that its book refused, and judges another anew', () => {
    const refused = { ...standing, state: 'released', refusal_id: refusalId(1, Buffer.alloc(10)) } as const;
    expect(judge(refused, use)).toEqual({ kind: 'blocked', refusal_id: refused.refusal_id });
    expect(judge(refused, { ...use, request_hash: 'other' })).toEqual({ kind: 'claimed' });
  });
});
