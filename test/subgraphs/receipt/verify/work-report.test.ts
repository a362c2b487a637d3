import { describe, expect, it } from 'vitest';
import { factsOfReceipt } from '../../../../rest-compat/receipt/page/facts.ts';
import type { JsonObject } from '../../../../schema/canonical-json.ts';
import type { ReceiptFacts } from '../../../../subgraphs/receipt/receipt/receipt-facts.ts';
import { verify } from '../../../../subgraphs/receipt/verify/module.ts';
import { verifyReceipt } from '../../../../subgraphs/receipt/verify/receipt.ts';
import { makeAuditDocument } from '../../../harness/receipt/audit-document.ts';
import { issue, issuer } from '../../../harness/receipt/issue.ts';
import { paidCall, waivedCall } from '../../../harness/vectors/receipt-facts.ts';

const reported = { by: 'rbook_1', generation_id: 'gen-1', rail: 'credits', amount: '1250' };
const broadcast: ReceiptFacts = {
  ...waivedCall,
  job_kind: 'router_broadcast',
  caller_binding: {},
  waived_by: null,
  reported: { ...reported, payment_ref: 'base:0x1', verified_with: 'router.test' },
};

describe('a receipt of what was reported', () => {
  it('is valid, says that nothing is there to prove, and names no payment', async () => {
    const receipt = await issue(broadcast, 1);
    const { report, ...verified } = verifyReceipt(receipt, issuer.jwks) as never as { report: { unchecked: string[] } };
    expect(verified).toMatchObject({ kind: 'valid' });
    expect(report.unchecked.join()).toContain('Whether the report is true');
    expect(receipt).toMatchObject({ proof_outcome: 'none', settled_by: null, payment_ref: null });
    for (const name of ['amount', 'payer_wallet', 'local_check']) expect(receipt).not.toHaveProperty(name);
  });

  it.each<JsonObject>([
    { reported: { ...reported, amount: '1' } },
    { proof_outcome: 'settled' },
    { settled_by: 'observed_transfer' },
    { payment_ref: 'base:0x1' },
    { amount: '1250' },
    { waived_by: 'live_key' },
  ])('is invalid with %j beside it', async beside => {
    const receipt = await issue(broadcast, 1);
    expect(verifyReceipt({ ...receipt, ...beside }, issuer.jwks)).toMatchObject({ code: 'copy_mismatch' });
  });

  it.each<[what: string, facts: Partial<ReceiptFacts>]>([
    ['names a payment', { payment: paidCall.payment }],
    ['names a payer', { caller_binding: paidCall.caller_binding }],
    ['says that what nobody paid was seen to move', { settled_by: 'observed_transfer' }],
    ['names a key', { caller_binding: { api_key_hash: 'e' } }],
    ['is of another kind of work', { job_kind: 'completions' }],
  ])('is invalid where the issuer itself %s', async (_, facts) => {
    const forged = await issue({ ...broadcast, ...facts }, 1);
    expect(verifyReceipt(forged, issuer.jwks)).toMatchObject({ code: 'reported_invalid' });
  });

  it.each<JsonObject>([
    { ...reported, amount: 1250 },
    { ...reported, amount: '0.1' },
    { ...reported, settled: true },
    { by: 'rbook_1' },
  ])('is invalid where it reports %j', async forged => {
    const receipt = await issue({ ...broadcast, reported: forged as never }, 1);
    expect(verifyReceipt(receipt, issuer.jwks)).toMatchObject({ code: 'shape_invalid' });
  });

  it('says on its page what was reported, by whom, and that nothing was paid here; the page checks it', async () => {
    // The transfer is removed, as the service does if the receipt has none.
    const { transfer: _none, ...audit } = await makeAuditDocument(broadcast);
    const { receipt } = audit as { receipt: JsonObject };
    const facts = factsOfReceipt({ ...(receipt.payload as JsonObject) }, receipt);
    expect(facts).toMatchObject({
      Payment: 'Nothing was paid to this service',
      Reported: 'gen-1, 0.00125 USD by credits, base:0x1, by the key of rbook_1',
      'Checked with': 'router.test',
    });
    expect(Object.keys(facts)).not.toEqual(expect.arrayContaining(['Paid by']));
    expect(Object.keys(facts)).not.toEqual(expect.arrayContaining(['Transaction']));
    const altered = { ...audit, receipt: { ...receipt, reported: { ...reported, amount: '9' } } };
    expect([verify(audit, null), verify(altered, null)]).toMatchObject([
      { fault: null },
      { fault: { code: 'copy_mismatch' } },
    ]);
  });
});
