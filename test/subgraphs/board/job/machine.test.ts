import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { atomicAmount } from '../../../../schema/amount.ts';
import { deadlineMs, judgeDeadline } from '../../../../schema/board/deadline.ts';
import { type JobState, jobActions, jobStates } from '../../../../schema/board/job.ts';
import { wordList } from '../../../../schema/words.ts';
import { expiringStates, jobMoves, jobStateBy, judgeJob } from '../../../../subgraphs/board/job/job.machine.ts';
import { legsOf } from '../../../../subgraphs/board/job/legs.ts';

const states = fc.constantFrom(...wordList(jobStates));
const actions = fc.constantFrom(...jobActions);
const standings = fc.record({
  state: states,
  overdue: fc.boolean(),
  refusals: fc.integer({ min: 0, max: 2 }),
  past_deadline: fc.boolean(),
});

describe('the table of a job', () => {
  it('is that of the specification', () => {
    expect(jobMoves).toEqual({
      bid: { by: 'bidder', from: ['open'], to: 'open' },
      pick: { by: 'poster', from: ['open'], to: 'picked' },
      cancel: { by: 'poster', from: ['open'], to: 'cancelled' },
      deliver: { by: 'winner', from: ['picked', 'delivered'], to: 'delivered' },
      refuse: { by: 'poster', from: ['delivered'], to: 'picked', to_at_last: 'refused' },
      pay: { by: 'poster', from: ['delivered'], to: 'paid' },
      challenge: { by: 'poster', from: ['paid'], to: 'paid' },
      reveal: { by: 'winner', from: ['paid'], to: 'closed' },
    });
  });

  it('lets pass what it holds, and says of all else where the job stands and what it holds there', () => {
    fc.assert(
      fc.property(standings, actions, (standing, action) => {
        const now = jobStateBy(standing);
        const judged = judgeJob(standing, action);
        const { from, to, to_at_last = to } = jobMoves[action];
        const last = standing.refusals > 0 || standing.past_deadline;
        if (from.includes(now)) expect(judged).toEqual({ kind: 'moves', to: last ? to_at_last : to });
        else expect(judged).toMatchObject({ kind: 'refused', state: now });
        if (judged.kind === 'refused') for (const other of judged.legal) expect(jobMoves[other].from).toContain(now);
      }),
    );
  });

  it('goes forward alone, but for a delivery that is refused, and nothing follows an end', () => {
    const order: readonly JobState[] = ['open', 'picked', 'delivered', 'paid', 'closed', 'refused', 'cancelled'];
    for (const [action, { from, to }] of Object.entries(jobMoves))
      for (const state of from)
        if (action !== 'refuse') expect(order.indexOf(to)).toBeGreaterThanOrEqual(order.indexOf(state));
    fc.assert(
      fc.property(standings, actions, (standing, action) => {
        const over = ['closed', 'expired', 'refused', 'cancelled'].includes(jobStateBy(standing));
        if (over) expect(judgeJob(standing, action).kind).toBe('refused');
      }),
    );
  });

  it('ends by a refusal that is the second, or comes when nothing can be delivered any more', () => {
    const delivered = { state: 'delivered', overdue: false, refusals: 0, past_deadline: false } as const;
    expect(judgeJob(delivered, 'refuse')).toEqual({ kind: 'moves', to: 'picked' });
    for (const last of [{ refusals: 1 }, { past_deadline: true }])
      expect(judgeJob({ ...delivered, ...last }, 'refuse')).toEqual({ kind: 'moves', to: 'refused' });
  });

  it('ends by time what waits, and never what is paid', () => {
    const ended = wordList(jobStates).filter(state => jobStateBy({ state, overdue: true, refusals: 0 }) === 'expired');
    expect(ended).toEqual([...expiringStates, 'expired']);
    expect(ended).not.toContain('paid');
    expect(jobStateBy({ state: 'picked', overdue: true, refusals: 1 })).toBe('refused');
    expect(jobStateBy({ state: 'delivered', overdue: true, refusals: 1 })).toBe('expired');
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
