import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { atomicAmount } from '../../../../schema/amount.ts';
import { deadlineMs, judgeDeadline } from '../../../../schema/board/deadline.ts';
import { type JobState, jobActions, jobStates } from '../../../../schema/board/job.ts';
import { expiringStates, jobMoves, jobStateBy, judgeJob } from '../../../../subgraphs/board/job/job.machine.ts';
import { legsOf } from '../../../../subgraphs/board/job/legs.ts';

const states = fc.constantFrom(...jobStates);
const actions = fc.constantFrom(...jobActions);

describe('the table of a job', () => {
  it('is that of the specification', () => {
    expect(jobMoves).toEqual({
      bid: { by: 'bidder', from: 'open', to: 'open' },
      pick: { by: 'poster', from: 'open', to: 'picked' },
      deliver: { by: 'winner', from: 'picked', to: 'delivered' },
      pay: { by: 'poster', from: 'delivered', to: 'paid' },
      challenge: { by: 'poster', from: 'paid', to: 'paid' },
      reveal: { by: 'winner', from: 'paid', to: 'closed' },
    });
  });

  it('lets pass what it holds, and says of all else where the job stands and what it holds there', () => {
    fc.assert(
      fc.property(states, fc.boolean(), actions, (state, overdue, action) => {
        const now = jobStateBy({ state, overdue });
        const judged = judgeJob({ state, overdue }, action);
        if (jobMoves[action].from === now) expect(judged).toEqual({ kind: 'moves', to: jobMoves[action].to });
        else expect(judged).toMatchObject({ kind: 'refused', state: now });
        if (judged.kind === 'refused') for (const other of judged.legal) expect(jobMoves[other].from).toBe(now);
      }),
    );
  });

  it('goes forward alone: no walk comes back to a state that it has left, and nothing follows an end', () => {
    const order: readonly JobState[] = ['open', 'picked', 'delivered', 'paid', 'closed'];
    for (const { from, to } of Object.values(jobMoves))
      expect(order.indexOf(to)).toBeGreaterThanOrEqual(order.indexOf(from));
    for (const end of ['closed', 'expired'] as const)
      expect(jobActions.filter(action => judgeJob({ state: end, overdue: true }, action).kind === 'moves')).toEqual([]);
  });

  it('ends by time what waits, and never what is paid', () => {
    const ended = jobStates.filter(state => jobStateBy({ state, overdue: true }) === 'expired');
    expect(ended).toEqual([...expiringStates, 'expired']);
    expect(ended).not.toContain('paid');
  });
});

describe('the legs of a job', () => {
  it('are the price, and a stamp with one per cent of it, rounded up', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 1n, max: 25_000_000n }), price => {
        const legs = legsOf({ priceAtomic: atomicAmount(price), network: 'base', payTo: '0x1' });
        expect(legs?.winner).toEqual({ network: 'base', pay_to: '0x1', amount_atomic: price });
        const percent = (legs?.fee.amount_atomic ?? 0n) - 2000n;
        expect(percent * 100n >= price && (percent - 1n) * 100n < price).toBe(true);
      }),
    );
    expect(legsOf({ priceAtomic: null, network: null, payTo: null })).toBeNull();
  });
});

describe('a deadline', () => {
  const now = Date.parse('2026-03-01T12:00:00Z');
  it.each([
    ['2026-03-01', 'within'],
    ['2026-02-28', 'past'],
    ['2026-03-31', 'within'],
    ['2026-04-01', 'too_far'],
    ['2026-03-01T12:00:00.000Z', 'past'],
    ['2026-03-31T12:00:00.000Z', 'within'],
    ['2026-03-31T12:00:00.001Z', 'too_far'],
  ])('%s is %s: a day is over as it ends', (deadline, kind) => {
    expect(judgeDeadline(deadline, now).kind).toBe(kind);
  });

  it('that is a day ends with it, in UTC', () => {
    expect(new Date(deadlineMs('2026-03-01')).toISOString()).toBe('2026-03-01T23:59:59.999Z');
  });
});
