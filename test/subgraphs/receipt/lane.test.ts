import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import { networks } from '../../../schema/network.ts';
import { type LaneSubject, laneFacts } from '../../../schema/receipt-lane.ts';
import { verifyReceipt } from '../../../subgraphs/receipt/verify/receipt.ts';
import { issue, issuer } from '../../harness/receipt/issue.ts';
import { paidCall, waivedCall } from '../../harness/vectors/receipt-facts.ts';

const vouched = await issue({ ...paidCall, settled_by: 'receipt' });
const seen = await issue(paidCall);
const waived = await issue(waivedCall, null);

const subject: LaneSubject = {
  tree_size: 2,
  book_seq: 1,
  settled_by: 'receipt',
  proof_outcome: 'pending',
  ingress_receipt: null,
  payment: paidCall.payment && { ...paidCall.payment },
};

const subjects: fc.Arbitrary<LaneSubject> = fc.record({
  tree_size: fc.integer({ min: 1, max: 9 }),
  book_seq: fc.option(fc.integer({ min: 1, max: 9 })),
  settled_by: fc.option(fc.constantFrom('observed_transfer', 'receipt')),
  proof_outcome: fc.constantFrom('settled', 'pending', 'unverified', 'none'),
  ingress_receipt: fc.option(fc.constant({ ref: 'base:0x1', confirmed_at: '2026-01-02T03:04:06.000Z' })),
  payment: fc.constant(null),
});

describe('the lane of a receipt', () => {
  it('freezes only on a book, by the issuer’s word alone, once the log has gone on, and never what is settled', () => {
    fc.assert(
      fc.property(subjects, fc.option(fc.integer({ min: 0, max: 9 })), (given, newest) => {
        const { freeze, anchor_changed_since_binding } = laneFacts(given, newest);
        expect(anchor_changed_since_binding).toBe(newest !== null && newest > given.tree_size);
        const all = [given.book_seq !== null, given.settled_by === 'receipt', anchor_changed_since_binding];
        expect(freeze).toBe(all.every(Boolean) && given.proof_outcome !== 'settled');
      }),
    );
    expect(laneFacts(subject, 3).freeze).toBe(true);
    expect(laneFacts(subject, 2).freeze).toBe(false);
  });

  it('is unverifiable only where the search was given up, nobody vouches, and nothing was seen', () => {
    fc.assert(
      fc.property(subjects, given => {
        const { settled_by, ingress_receipt, proof_outcome } = given;
        const none = settled_by === null && ingress_receipt === null;
        expect(laneFacts(given, null).unverifiable_from_registry).toBe(none && proof_outcome === 'unverified');
      }),
    );
    expect(laneFacts({ ...subject, settled_by: null, proof_outcome: 'unverified' }, 3)).toMatchObject({
      unverifiable_from_registry: true,
    });
  });

  it('names payee and amount of USDC on Base, and of nothing else', () => {
    const { pay_to, gross_amount, asset } = paidCall.payment ?? {};
    expect(laneFacts(subject, null).local_check).toEqual({
      network: 'base',
      chain: 'eip155:8453',
      asset,
      payee: pay_to,
      amount: gross_amount,
    });
    const on_solana = { ...subject, payment: { ...subject.payment, network: networks.solana.name } };
    for (const other of [on_solana, { ...subject, payment: null }]) expect(laneFacts(other, 3).local_check).toBeNull();
  });

  it('claims no proof system', () => {
    expect(laneFacts(subject, 3).binding).toEqual({ in_proof: false });
  });
});

describe('verified', () => {
  const report = (document: JsonObject) => {
    const verified = verifyReceipt(document, issuer.jwks);
    if (verified.kind !== 'valid') throw new Error(verified.sentence);
    return verified.report.unsigned.lane;
  };
  const LANE = ['anchor_changed_since_binding', 'freeze', 'unverifiable_from_registry', 'local_check', 'binding'];

  it('its facts are named as what nobody signed', () => {
    expect(report(vouched)).toEqual(expect.arrayContaining(LANE));
    expect(report(waived)).not.toContain('local_check');
    // Older receipts do not have these members.
    const bare = Object.fromEntries(Object.entries(seen).filter(([name]) => !LANE.includes(name)));
    expect(report(bare)).not.toEqual(expect.arrayContaining(['freeze']));
  });

  it.each<[what: string, document: JsonObject, members: JsonObject]>([
    ['freeze on what is settled', seen, { freeze: true, anchor_changed_since_binding: true }],
    ['no freeze on what is', vouched, { freeze: false, anchor_changed_since_binding: true }],
    ['unverifiable, and vouched for', vouched, { unverifiable_from_registry: true }],
    ['another payee', seen, { local_check: { ...(seen.local_check as JsonObject), payee: `0x${'1'.repeat(40)}` } }],
    ['a transfer of what nobody paid', waived, { local_check: seen.local_check ?? null }],
  ])('%s contradicts what stands beside it', (_, document, members) => {
    const verified = verifyReceipt({ ...document, ...members }, issuer.jwks);
    expect(verified).toMatchObject({ kind: 'invalid', code: 'copy_mismatch' });
  });

  it.each([
    ['freeze', 'no'],
    ['binding', true],
    ['local_check', 'base'],
  ])('%s of another type is no receipt', (name, value) => {
    expect(verifyReceipt({ ...seen, [name]: value }, issuer.jwks)).toMatchObject({ code: 'shape_invalid' });
  });
});
