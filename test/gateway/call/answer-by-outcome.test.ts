import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { CallOutcome } from '../../../gateway/call/respond.ts';
import { movementOf, openRespond } from '../../../gateway/call/respond.ts';
import type { Movement } from '../../../gateway/call/states.ts';
import type { NotSent } from '../../../gateway/rails/outcome.ts';
import { openChallenges } from '../../../gateway/x402/offer.ts';
import { atomicAmount } from '../../../schema/amount.ts';
import { type ErrorCode, errors, paymentStateAfter, Refusal } from '../../../schema/errors.ts';
import type { TaskId } from '../../../schema/ids.ts';
import type { BlockedTooOften } from '../../../subgraphs/book/ledger/block.ts';
import type { AnyPaid } from '../../../subgraphs/sale.ts';

const respond = openRespond(openChallenges({ base: `0x${'11'.repeat(20)}` }), 'http://svc.test');

const paid = {
  field: 'Mutation.createChatCompletion',
  order: 'work_then_settle',
  price_atomic: atomicAmount(2_000n),
  networks: ['base'],
  slot_taken: 'wallet_registered',
} as unknown as AnyPaid;
const task_id = fc.constant('task_01' as TaskId);
const seconds = fc.integer({ min: 1, max: 3_600 });
const word = fc.stringMatching(/^[a-z_]{1,30}$/);
const transaction = fc.option(fc.constant(`0x${'ab'.repeat(32)}`));
const by = fc.constantFrom('payment_identifier' as const, 'idempotency_key' as const);
const code = fc.constantFrom(...(Object.keys(errors) as ErrorCode[]));
const unsent: Record<NotSent['reason'], true> = {
  chain_unavailable: true,
  facilitator_unavailable: true,
  fee_too_high: true,
  price_unknown: true,
  out_of_gas: true,
  claim_lost: true,
  journal_failed: true,
  stopped: true,
};

type Known<K extends CallOutcome['kind']> = {
  readonly outcome: fc.Arbitrary<Omit<Extract<CallOutcome, { kind: K }>, 'kind'>>;
  /** What is known of the payer's money: stated again by hand, so that the table cannot be changed unnoticed. */
  readonly movement: Movement;
};
const none = fc.constant({});

/** Every outcome: the type requires each new one here. */
const known: { readonly [K in CallOutcome['kind']]: Known<K> } = {
  unpaid: { outcome: fc.record({ paid: fc.constant(paid), unknown_key: fc.boolean() }), movement: 'nothing_moved' },
  second_due: {
    outcome: fc.record({ paid: fc.constant(paid), payment_ref: word }),
    movement: 'nothing_moved',
  },
  rejected: { outcome: fc.record({ paid: fc.constant(paid), reason: word }), movement: 'nothing_moved' },
  no_turn: { outcome: fc.record({ retry_after_seconds: seconds }), movement: 'may_have_moved' },
  resting: { outcome: fc.record({ seconds }), movement: 'nothing_moved' },
  chain_unreachable: { outcome: none, movement: 'nothing_moved' },
  not_sent: {
    outcome: fc.record({ reason: fc.constantFrom(...(Object.keys(unsent) as NotSent['reason'][])) }),
    movement: 'nothing_moved',
  },
  unknown: { outcome: fc.record({ transaction }), movement: 'may_have_moved' },
  unknown_here: { outcome: none, movement: 'may_have_moved' },
  pending: { outcome: fc.record({ task_id, transaction }), movement: 'may_have_moved' },
  in_flight: { outcome: fc.record({ task_id }), movement: 'may_have_moved' },
  foreign: { outcome: fc.record({ settled: fc.boolean() }), movement: 'moved' },
  doubtful: {
    outcome: fc.record({ proof: fc.record({ text: word }) }, { requiredKeys: [] }),
    movement: 'may_have_moved',
  },
  lapsed: { outcome: none, movement: 'nothing_moved' },
  refused_by_session: {
    outcome: fc.record({
      refusal: fc.oneof(
        fc.record({ kind: fc.constant('cap_exceeded' as const), delegation_hash: word }),
        fc.record({
          kind: fc.constant('not_active' as const),
          status: fc.constantFrom('revoked' as const, 'expired' as const),
        }),
      ),
    }),
    movement: 'nothing_moved',
  },
  slot_taken: { outcome: fc.record({ paid: fc.constant(paid) }), movement: 'nothing_moved' },
  name_in_flight: { outcome: fc.record({ by, task_id }), movement: 'may_have_moved' },
  name_foreign: { outcome: fc.record({ by }), movement: 'nothing_moved' },
  key_name_in_flight: { outcome: none, movement: 'nothing_moved' },
  key_names_full: { outcome: none, movement: 'nothing_moved' },
  key_calls_full: { outcome: fc.record({ calls_max: seconds }), movement: 'nothing_moved' },
  not_taken: { outcome: fc.constant({ unsure: true }), movement: 'may_have_moved' },
  wrong_session: { outcome: none, movement: 'nothing_moved' },
  not_possessor: { outcome: none, movement: 'moved' },
  answer_gone: { outcome: fc.record({ verify_url: word }), movement: 'moved' },
  kill_switch_resend: { outcome: fc.record({ task_id, verify_url: word }), movement: 'moved' },
  blocked: {
    outcome: fc.record({
      code: fc.constantFrom('policy_blocked' as const, 'budget_exhausted' as const),
      document: fc.record({ refusal_url: word }),
    }),
    movement: 'nothing_moved',
  },
  blocked_too_often: {
    outcome: fc.record({
      too_often: fc.record({
        policy_code: word,
        retry_after_seconds: seconds,
      }) as unknown as fc.Arbitrary<BlockedTooOften>,
      last_refusal_url: word,
    }),
    movement: 'nothing_moved',
  },
  canceled: { outcome: fc.record({ task_id }), movement: 'nothing_moved' },
  broke_off: { outcome: fc.record({ away: fc.boolean() }), movement: 'nothing_moved' },
  still_owed: {
    outcome: fc.record({
      // Whatever code the work was refused with, even with the offer of another payment.
      refusal: code.map(it => new Refusal(it, { facts: { charged: false } })),
      final: fc.boolean(),
      task_id,
      verify_url: word,
    }),
    movement: 'moved',
  },
};

const outcomes = fc.oneof(
  ...(Object.keys(known) as CallOutcome['kind'][]).map(kind =>
    (known[kind].outcome as fc.Arbitrary<object>).map(rest => ({ kind, ...rest }) as CallOutcome),
  ),
);

/** Whether the refusal asks for a payment or says that nothing was charged: never where the caller may have paid. */
function mayPayAgain(refusal: Refusal): boolean {
  return refusal.status === 402 || refusal.extensions.charged === false;
}

describe('what a caller hears', () => {
  it('never is a 402, nor that nothing was charged, while their money may have moved', () => {
    fc.assert(
      fc.property(outcomes, outcome => {
        expect(movementOf(outcome)).toBe(known[outcome.kind].movement);
        if (known[outcome.kind].movement !== 'nothing_moved') expect(mayPayAgain(respond(outcome))).toBe(false);
      }),
      { numRuns: 2_000 },
    );
  });

  it('leaves a payment of which nothing is known open, or spent, to whoever reads the answer', () => {
    fc.assert(
      fc.property(outcomes, outcome => {
        const { code, extensions } = respond(outcome);
        if (known[outcome.kind].movement !== 'nothing_moved' && outcome.kind !== 'still_owed')
          expect(paymentStateAfter(code, extensions.charged, true)).not.toBe('unused');
      }),
      { numRuns: 2_000 },
    );
  });

  it('is an offer of another payment for one that is refused, and for nothing else that was shown', () => {
    const offers = (Object.keys(known) as CallOutcome['kind'][]).filter(kind => {
      const [one] = fc.sample(known[kind].outcome as fc.Arbitrary<object>, 1);
      return kind !== 'still_owed' && respond({ kind, ...one } as CallOutcome).status === 402;
    });
    expect(offers).toEqual(['unpaid', 'second_due', 'rejected']);
  });

  it('names what was sent where that is known, and says nothing of it where it is not', () => {
    const sent = `0x${'cd'.repeat(32)}`;
    expect(respond({ kind: 'unknown', transaction: sent }).extensions).toEqual({
      code: 'settlement_pending',
      status: 503,
      transaction: sent,
    });
    expect(Object.keys(respond({ kind: 'unknown', transaction: null }).extensions)).toEqual(['code', 'status']);
  });

  it('keeps the cause for the log alone', () => {
    const cause = new Error('postgres://svc:secret@db');
    const refusal = respond({ kind: 'not_taken', unsure: true }, cause);
    expect(refusal.originalError).toBe(cause);
    expect(JSON.stringify(refusal)).not.toContain('secret');
  });
});

describe('what a caller hears of a rail', () => {
  it.each<[CallOutcome, code: string, facts: object]>([
    [{ kind: 'chain_unreachable' }, 'chain_unavailable', { charged: false }],
    [{ kind: 'no_turn', retry_after_seconds: 2 }, 'unavailable', { retry_after_seconds: 2 }],
    [{ kind: 'unknown' }, 'settlement_pending', {}],
    [{ kind: 'unknown', transaction: '0xab' }, 'settlement_pending', { transaction: '0xab' }],
    [{ kind: 'not_sent', reason: 'chain_unavailable' }, 'chain_unavailable', { charged: false }],
    [{ kind: 'not_sent', reason: 'facilitator_unavailable' }, 'facilitator_unavailable', { charged: false }],
    [{ kind: 'not_sent', reason: 'fee_too_high' }, 'fee_too_high', { charged: false }],
    [{ kind: 'not_sent', reason: 'price_unknown' }, 'unavailable', { charged: false }],
    [{ kind: 'not_sent', reason: 'out_of_gas' }, 'unavailable', { charged: false }],
    [{ kind: 'not_sent', reason: 'claim_lost' }, 'unavailable', { charged: false }],
    [{ kind: 'not_sent', reason: 'journal_failed' }, 'unavailable', { charged: false }],
    [{ kind: 'not_sent', reason: 'stopped' }, 'unavailable', { charged: false }],
  ])('%j is 503 %s, and never an offer to pay again', (outcome, code, facts) => {
    expect(respond(outcome).extensions).toEqual({ status: 503, code, ...facts });
  });

  it('is 402 with the offer, not charged, where the chain or whoever settles has said no', () => {
    const refusal = respond({ kind: 'rejected', paid, reason: 'insufficient_funds' });
    expect(refusal).toMatchObject({ status: 402, code: 'payment_rejected', message: 'insufficient_funds' });
    expect(refusal.extensions).toMatchObject({ charged: false, x402: { x402Version: 1 } });
  });
});
