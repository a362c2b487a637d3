import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../schema/canonical-json.ts';
import type { ReceiptFacts } from '../../../../subgraphs/receipt/receipt/receipt-facts.ts';
import { verifyReceipt } from '../../../../subgraphs/receipt/verify/receipt.ts';
import { issue, issuer } from '../../../harness/receipt/issue.ts';
import { paidCall, waivedCall } from '../../../harness/vectors/receipt-facts.ts';

const handed: ReceiptFacts = {
  ...waivedCall,
  job_kind: 'other',
  waived_by: null,
  caller_binding: { agent_pubkey: '0x02' },
  session: { delegation_hash: `0x${'1'.repeat(64)}`, valid_after: 0, session_expiry: 4_000_000_000 },
  handed: { parent_receipt_id: 'task_parent', target_agent: 7 },
};

describe('a receipt that was handed on', () => {
  it('is valid, and says that nothing is there to prove', async () => {
    const receipt = await issue(handed, 1);
    expect(verifyReceipt(receipt, issuer.jwks)).toMatchObject({ kind: 'valid' });
    expect(receipt).toMatchObject({ proof_outcome: 'none', settled_by: null, payment_ref: null });
    for (const name of ['amount', 'payer_wallet']) expect(receipt).not.toHaveProperty(name);
  });

  it.each<[what: string, facts: Partial<ReceiptFacts>]>([
    ['names a payment', { payment: paidCall.payment }],
    ['names a payer', { caller_binding: { ...paidCall.caller_binding, agent_pubkey: '0x02' } }],
    ['says that what nobody paid was seen to move', { settled_by: 'observed_transfer' }],
    ['names a key', { caller_binding: { api_key_hash: 'e', agent_pubkey: '0x02' } }],
    ['names no session', { session: null }],
    ['names no parent', { handed: { target_agent: 7 } as never }],
  ])('is invalid where the issuer itself %s', async (_, facts) => {
    const forged = await issue({ ...handed, ...facts }, 1);
    expect(verifyReceipt(forged, issuer.jwks)).toMatchObject({ kind: 'invalid', code: 'hand_off_invalid' });
  });

  it.each<JsonObject>([{ amount: '2000' }, { payment_ref: 'base:0x1' }, { target_agent: 8 }])(
    'is invalid with %j beside it',
    async beside => {
      const receipt = await issue(handed, 1);
      expect(verifyReceipt({ ...receipt, ...beside }, issuer.jwks)).toMatchObject({ code: 'copy_mismatch' });
    },
  );
});
