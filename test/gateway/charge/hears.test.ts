import { describe, expect, it } from 'vitest';
import { hears, hearsOf } from '../../../gateway/charge/hears.ts';
import type { Till } from '../../../gateway/charge/till.ts';
import type { NotSent } from '../../../gateway/rails/outcome.ts';
import type { AnyPaid } from '../../../gateway/record/recorder.ts';

type Undone = Parameters<typeof hears>[0];

const cause = new Error('the node does not answer');
const till = {
  base_url: 'https://svc.test',
  challenges: () => ({ headers: { 'PAYMENT-REQUIRED': 'offer' }, body: { x402Version: 1 } }),
} as unknown as Till;
const paid = { field: 'createChatCompletion', price_atomic: 2000n, networks: ['base'] } as unknown as AnyPaid;

const undone: readonly [Undone, status: number, code: string, facts: object][] = [
  [{ kind: 'unreachable', cause }, 503, 'chain_unavailable', { charged: false }],
  [{ kind: 'no_turn', retry_after_seconds: 2 }, 503, 'unavailable', { retry_after_seconds: 2 }],
  [{ kind: 'busy' }, 503, 'settlement_pending', {}],
  [{ kind: 'undecided', cause }, 503, 'settlement_pending', {}],
  [{ kind: 'unknown', reason: 'chain_unavailable' }, 503, 'settlement_pending', {}],
  [{ kind: 'unknown', reason: 'not_mined', tx_hash: '0xab' }, 503, 'settlement_pending', { transaction: '0xab' }],
];

const unsent: readonly [NotSent['reason'], code: string][] = [
  ['chain_unavailable', 'chain_unavailable'],
  ['facilitator_unavailable', 'facilitator_unavailable'],
  ['fee_too_high', 'fee_too_high'],
  ['price_unknown', 'unavailable'],
  ['out_of_gas', 'unavailable'],
  ['claim_lost', 'unavailable'],
  ['journal_failed', 'unavailable'],
  ['stopped', 'unavailable'],
];

describe('an outcome that is not known', () => {
  it.each(undone)('%j is %i %s, and never an offer to pay again', (outcome, status, code, facts) => {
    for (const refusal of [hears(outcome), hearsOf(till, paid, outcome)]) {
      expect(refusal).toMatchObject({ status, code });
      expect(refusal.extensions).toEqual({ status, code, ...facts });
      expect(refusal.originalError).toBe('cause' in outcome ? cause : undefined);
    }
  });
});

describe('a payment that never left this process', () => {
  it.each(unsent)('for %s is %s, not charged', (reason, code) => {
    expect(hears({ kind: 'not_sent', reason }).extensions).toEqual({ status: 503, code, charged: false });
  });
});

describe('a payment that the chain, or whoever settles, has said no to', () => {
  it.each([
    { kind: 'rejected', reason: 'insufficient_funds' },
    { kind: 'declined', reason: 'invalid_payload' },
    { kind: 'not_transferred', reason: 'expired' },
  ] as const)('%j is 402 with the offer, not charged', outcome => {
    const refusal = hearsOf(till, paid, outcome);
    expect(refusal).toMatchObject({ status: 402, code: 'payment_rejected', message: outcome.reason });
    expect(refusal.extensions).toMatchObject({ charged: false, x402: { x402Version: 1 } });
  });
});
