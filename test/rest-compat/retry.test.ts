import { describe, expect, it } from 'vitest';
import { retryHeaders } from '../../rest-compat/problem.ts';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { type ErrorCode, errors } from '../../schema/errors.ts';

/*
 * OpenAI's clients retry by themselves, and x402's client below them signs another payment for each retry. So wherever the
 * first one is not known to be unused they are told not to.
 */

const codes = Object.keys(errors) as ErrorCode[];
const forbidding = (charged: boolean | undefined, pays: boolean) =>
  codes.filter(code => {
    const facts: JsonObject = charged === undefined ? {} : { charged };
    return retryHeaders({ code, facts }, pays)['x-should-retry'] === 'false';
  });

const open = ['payment_in_flight', 'settlement_pending'];
const spent = [
  'answer_gone',
  'claim_already_settled',
  'idempotency_key_conflict',
  'payer_proof_required',
  'payment_already_used',
  'payment_identifier_conflict',
];
const doubtful = [
  'book_damaged',
  'chain_unavailable',
  'facilitator_unavailable',
  'fee_too_high',
  'hub_failed',
  'internal',
  'record_damaged',
  'unavailable',
];

describe('x-should-retry: false', () => {
  it('where nothing was charged: only of a payment that is open by its own, or spent', () => {
    expect(forbidding(false, true).sort()).toEqual([...open, ...spent].sort());
  });
  it('where nobody says whether: also of every fault of ours, as it may have been', () => {
    expect(forbidding(undefined, true).sort()).toEqual([...doubtful, ...open, ...spent].sort());
  });
  it('where it was charged: whatever went wrong', () => {
    expect(forbidding(true, true)).toEqual(codes);
  });
  it('without a payment: not of faults, which a client may retry as it is used to', () => {
    expect(forbidding(undefined, false).sort()).toEqual([...open, ...spent].sort());
  });
});

it('an outcome that is not known always says when to ask again', () => {
  for (const code of [...open, ...doubtful] as ErrorCode[])
    expect(retryHeaders({ code, facts: {} }, true)['retry-after']).toMatch(/^[1-9]\d*$/);
});
