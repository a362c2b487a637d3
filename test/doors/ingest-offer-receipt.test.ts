import { beforeAll, describe, expect, it } from 'vitest';
import { SHOP, signedByShop } from '../harness/ingest/merchant.ts';
import { type Ingesting, openIngesting } from '../harness/ingest/open-ingest.ts';
import { invoiceOf, sendOf } from '../harness/ingest/witness.ts';

let house: Ingesting;
beforeAll(async () => {
  house = await openIngesting();
});

describe('POST /v1/agents/{agent_id}/book/ingest with what whoever was paid has signed', () => {
  it('201, in either form of a payment of USDC', async () => {
    const shop = await house.service.chain.newWallet(0n);
    const one = house.ownTransfer({ pay_to: shop.address });
    const invoiced = await house.ingestWaived({ ...invoiceOf(one), offer_receipt: await signedByShop(shop, one) });
    expect(invoiced.status).toBe(201);
    const two = house.ownTransfer({ pay_to: shop.address });
    const { transaction, payer, pay_to, amount } = two;
    const settled = await house.ingestWaived({
      payment_required: { resource: SHOP, amount, payTo: pay_to },
      payment_response: { transaction, payer },
      offer_receipt: { receipt: (await signedByShop(shop, two)).receipt },
    });
    expect(settled.status).toBe(201);
    for (const { body } of [invoiced, settled])
      expect(await house.rowOf(body.task_id)).toMatchObject({ merchant_signed: true });
    const bare = await house.ingestWaived(invoiceOf(house.ownTransfer()));
    expect(await house.rowOf(bare.body.task_id)).not.toHaveProperty('merchant_signed');
  });

  it('400 offer_receipt_invalid where they have not, before anything is charged', async () => {
    const transfer = house.ownTransfer();
    const stamps = await house.stampsOf();
    const stranger = await house.service.chain.newWallet(0n);
    const offer_receipt = await signedByShop(stranger, transfer);
    expect(await house.ingest({ ...invoiceOf(transfer), offer_receipt })).toMatchObject({
      status: 400,
      body: {
        code: 'offer_receipt_invalid',
        charged: false,
        reason: 'signature_invalid',
        error: { param: 'offer_receipt' },
      },
    });
    const nano = { block: 'c'.repeat(64), recipient: sendOf().pay_to, amount: '1', description: 'A report' };
    for (const body of [
      { nano, offer_receipt },
      { ...invoiceOf(transfer), offer_receipt: {} },
    ])
      expect(await house.ingestWaived(body)).toMatchObject({
        status: 400,
        body: { code: 'invalid_request', error: { param: 'offer_receipt' } },
      });
    expect(await house.stampsOf()).toBe(stamps);
  });
});
