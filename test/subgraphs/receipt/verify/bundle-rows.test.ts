import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../schema/canonical-json.ts';
import {
  bookOfReceipt,
  claimDifference,
  isSeenElsewhere,
  receiptDifference,
} from '../../../../subgraphs/receipt/verify/bundle-rows.ts';
import { parseJws } from '../../../../subgraphs/receipt/verify/signature.ts';
import { issue, issuer } from '../../../harness/receipt/issue.ts';
import { paidCall, twoLegCall } from '../../../harness/vectors/receipt-facts.ts';

const claimsOf = ({ issuer_signature }: JsonObject) => parseJws((issuer_signature as JsonObject).jws)?.claims ?? {};
const [paid, in_two] = [claimsOf(await issue(paidCall)), claimsOf(await issue(twoLegCall))];

describe('the book that a receipt signs', () => {
  it.each<[what: string, standing: string | null, claims: JsonObject, row: JsonObject, agent_id: number]>([
    ['its own', 'own', paid, { seq: 1 }, 7],
    ['another', null, paid, { seq: 1 }, 8],
    ['that of who paid for a job, on the book of its winner', 'winner', in_two, { seq: 4, amount: null }, 8],
    ['that of who paid for a job, with an amount', null, in_two, { seq: 4, amount: '1' }, 8],
    ['whom it was handed on to', 'handed_on', { payload_version: 11, target_agent: 8 }, { seq: 4 }, 8],
    ['whom it was handed on to, on the book of another', null, { payload_version: 11, target_agent: 8 }, { seq: 4 }, 7],
    ['none, as the first of a book', 'opened', { payload_version: 11 }, { seq: 1 }, 8],
    ['none, as a later one', null, { payload_version: 11 }, { seq: 2 }, 8],
    ['none, since its version did not', 'legacy', { payload_version: 8 }, { seq: 2 }, 8],
  ])('%s', (_, standing, claims, row, agent_id) => {
    expect(bookOfReceipt(claims, row, agent_id)).toBe(standing);
  });
});

describe('a row beside its receipt', () => {
  const { ref, transfer_index } = paidCall.payment as { ref: string; transfer_index: number };
  const row = {
    task_id: paidCall.task_id,
    seq: 1,
    hub: paidCall.hub,
    model: paidCall.model,
    amount: '2000',
    payment_ref: ref,
    rail: 'usdc',
    payer_wallet: paidCall.caller_binding.payer_wallet ?? null,
    transfer_index,
  };
  const vouched = { ...paid, settlement_basis: 'receipt' };
  const differenceIn = (members: JsonObject, claims = paid, document: JsonObject = {}) =>
    receiptDifference({ ...row, ...members }, { document, claims }, 'own');

  it('says the same, or leaves out', () => {
    expect(differenceIn({})).toBeNull();
    expect(differenceIn({ amount: null, payment_ref: null, rail: null, payer_wallet: null })).toBeNull();
  });

  it('names the model that the hub named, as its receipt does', () => {
    const named = { ...paid, answered_model: 'small-1-0613' };
    expect(differenceIn({ answered_model: 'small-1-0613' }, named)).toBeNull();
    expect(differenceIn({ answered_model: null }, named)).toBeNull();
    for (const claims of [named, paid])
      expect(differenceIn({ answered_model: 'other' }, claims)).toBe('answered_model is not what the receipt signs');
  });

  it('may name where a payment that was vouched for was seen, as its receipt does, and it is told apart', () => {
    const moved = { payment_ref: 'base:0x02' };
    const seen = { ingress_receipt: { ref: 'base:0x02' } };
    expect(differenceIn(moved, vouched, seen)).toBeNull();
    expect(isSeenElsewhere(moved, vouched)).toBe(true);
    expect(differenceIn(moved, vouched)).toBe('payment_ref is not what the receipt signs');
    expect(differenceIn(moved, paid, seen)).toBe('payment_ref is not what the receipt signs');
  });
});

it('a row of an inflow says what its claim signs, of the same book', () => {
  const signed = {
    schema: 'svc402.inflow_claim.v1',
    iss: issuer.base_url,
    verify_jwks: `${issuer.base_url}/.well-known/jwks.json`,
    agent_id: 7,
    task_id: 'task_1',
    bucket: 'fees',
    allocation: '5',
    claimed_at: '2026-01-02T03:04:06.000Z',
  };
  const value = issuer.signCanonical(JSON.stringify(Object.fromEntries(Object.entries(signed).sort())));
  const inflow_claim = { ...signed, signature: { alg: 'ES256', kid: issuer.kid, value } };
  const row = { task_id: 'task_1', bucket: 'fees', amount: null, inflow_claim };
  const claimDifferenceIn = (members: JsonObject, agent_id = 7) =>
    claimDifference({ ...row, ...members }, agent_id, issuer.jwks);
  expect(claimDifferenceIn({})).toBeNull();
  expect(claimDifferenceIn({}, 8)).toBe('the claim belongs to another book');
  expect(claimDifferenceIn({ bucket: 'other' })).toBe('bucket is not what the claim signs');
  expect(claimDifferenceIn({ amount: '5' })).toContain('amount is not what the claim signs');
  expect(claimDifferenceIn({ inflow_corrections: [{ task_id: 'task_2', inflow_claim }] })).toBe(
    'task_id is not what the claim signs',
  );
});
