import { describe, expect, it } from 'vitest';
import { retryHeaders } from '../../rest-compat/problem.ts';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { type ErrorCode, errors } from '../../schema/errors.ts';

/*
 * OpenAI's clients retry by themselves, and x402's client below them signs another payment for each retry. So an answer forbids retries
 * wherever the first payment is not known to be unused.
 */

const codes = Object.keys(errors) as ErrorCode[];
const forbidding = (charged: boolean | null | undefined, pays: boolean) =>
  codes.filter(code => {
    const facts: JsonObject = charged === undefined ? {} : { charged };
    return retryHeaders({ code, facts }, pays)['x-should-retry'] === 'false';
  });

const open = ['payment_in_flight', 'settlement_pending'];
const spent = [
  'answer_gone',
  'claim_already_settled',
  'hub_broke_off',
  'idempotency_key_conflict',
  'kill_switch_resend',
  'payer_proof_required',
  'payment_already_used',
  'payment_identifier_conflict',
  'stream_cut_off',
];
/** A verdict of a hub or of the router on the request itself. */
const final = [
  'answer_too_large',
  'hub_rejected_content',
  'hub_rejected_request',
  'hub_request_too_large',
  'hub_unprocessable_request',
  'router_key_invalid',
  'router_refused',
];
const doubtful = [
  'book_damaged',
  'chain_unavailable',
  'facilitator_unavailable',
  'fee_too_high',
  'hub_failed',
  'hub_overloaded',
  'internal',
  'record_damaged',
  'unavailable',
];

describe('x-should-retry: false', () => {
  it('where nothing was charged: only of a payment that is open by its own, or spent, and where the same request has the same outcome', () => {
    expect(forbidding(false, true).sort()).toEqual([...final, ...open, ...spent].sort());
  });
  it('where nobody says whether: also of every fault of ours, as it may have been', () => {
    expect(forbidding(undefined, true).sort()).toEqual([...doubtful, ...final, ...open, ...spent].sort());
  });
  it('where it was charged: whatever went wrong', () => {
    expect(forbidding(true, true)).toEqual(codes);
  });
  it('where it is not known yet: whatever went wrong, and when to ask again is said', () => {
    expect(forbidding(null, true)).toEqual(codes);
    for (const code of codes)
      expect(retryHeaders({ code, facts: { charged: null } }, true)['retry-after']).toMatch(/^[1-9]\d*$/);
  });
  it('without a payment: not of faults, which a client may retry as it is used to', () => {
    expect(forbidding(undefined, false).sort()).toEqual([...final, ...open, ...spent].sort());
  });
});

it('an outcome that is not known always says when to ask again', () => {
  for (const code of [...open, ...doubtful] as ErrorCode[])
    expect(retryHeaders({ code, facts: {} }, true)['retry-after']).toMatch(/^[1-9]\d*$/);
});

it.each(codes.filter(code => errors[code].length === 3))('%s asks for no other payment without its warning', code => {
  const [, sentence] = errors[code];
  const asked = /\b(?:sign|make|send|use|pay with)\b[^.;]*\b(?:new|another|other) (?:payment|one|key|identifier)\b/i;
  const warned = /do not sign|in addition|charged separately/i;
  expect(asked.test(sentence) && !warned.test(sentence)).toBe(false);
});
