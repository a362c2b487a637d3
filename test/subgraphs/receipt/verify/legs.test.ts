import { expect, it } from 'vitest';
import type { JsonObject } from '../../../../schema/canonical-json.ts';
import type { ReceiptLeg } from '../../../../schema/receipt-shapes.ts';
import { verifyReceipt } from '../../../../subgraphs/receipt/verify/receipt.ts';
import { issue, issuer } from '../../../harness/receipt/issue.ts';
import { paidCall, twoLegCall } from '../../../harness/vectors/receipt-facts.ts';

const legs = twoLegCall.legs ?? [];
const [payee, fee] = legs as [ReceiptLeg, ReceiptLeg];

it('a receipt of two payments verifies, and shows both', async () => {
  const receipt = await issue(twoLegCall);
  expect(receipt.legs).toEqual(legs);
  expect(verifyReceipt(receipt, issuer.jwks)).toMatchObject({ kind: 'valid' });
});

it.each([
  ['another amount than its payment', [{ ...payee, amount: '2001' }, fee]],
  ['another payee than its payment', [{ ...payee, pay_to: fee.pay_to }, fee]],
  ['another transfer than its payment', [{ ...payee, transfer_index: 99 }, fee]],
  ['the fee first', [fee, payee]],
  ['one payment twice', [payee, { ...fee, ref: payee.ref, transfer_index: payee.transfer_index }]],
  ['one alone', [payee]],
  ['a third', [payee, fee, fee]],
] as [string, ReceiptLeg[]][])('none that names %s', async (_, named) => {
  const verified = verifyReceipt(await issue({ ...twoLegCall, legs: named }), issuer.jwks);
  expect(verified).toMatchObject({ kind: 'invalid' });
});

it('none whose legs stand beside no payment, or are not those that were signed', async () => {
  const unpaid = await issue({ ...paidCall, payment: null, settled_by: null, waived_by: 'live_key', legs });
  expect(verifyReceipt(unpaid, issuer.jwks)).toMatchObject({ kind: 'invalid' });
  const receipt: JsonObject = await issue(twoLegCall);
  const altered = { ...receipt, legs: [payee, { ...fee, amount: '1' }] };
  expect(verifyReceipt(altered, issuer.jwks)).toMatchObject({ kind: 'invalid' });
});
