import { beforeAll, describe, expect, it } from 'vitest';
import type { z } from 'zod';
import type { TaskQuoteAnswer } from '../../rest-compat/inference/task-doors.ts';
import { canonicalHash, type JsonObject } from '../../schema/canonical-json.ts';
import { payingFetch } from '../harness/buyer.ts';
import { openService, type ReceiptBody, type Service } from '../harness/doors/open-service.ts';
import { testPaidDoor } from '../harness/doors/paid-door.ts';
import { hashOf, taskOf } from '../harness/doors/tasks.ts';

const QUOTE = '/task-quote';
type Quote = Omit<z.infer<typeof TaskQuoteAnswer>, 'svc'> & { readonly svc: ReceiptBody };

let service: Service;
beforeAll(async () => {
  const hub = { name: 'one', base_url: 'http://127.0.0.1:9/v1', api_key: 'key', models: ['one-1', 'one-2'] };
  service = await openService({ HUBS: JSON.stringify([{ ...hub, prices: { 'one-2': 700 } }]) });
});

describe(`POST ${QUOTE} 200`, () => {
  it('on nothing at all: a forecast, marked as no invoice, with a receipt of its own', async () => {
    const payer = await service.chain.newWallet();
    const heard = await service.knock<Quote>('POST', QUOTE, { body: {}, by: payingFetch(payer) });
    const { svc, forecast, ...told } = heard.body;
    expect(heard.status).toBe(200);
    const { task_id, verify_url, model, hub } = svc;
    expect(told).toEqual({ status: 'forecast', invoice: false, task_id, verify_url });
    expect(forecast).toMatchObject({ model, hub, payment_rail: 'usdc', gross_amount: '2000' });
    expect(forecast.accounting).toMatchObject({ route: { model, hub }, pricing: 'unpriced', route_margin: '2000' });
    const output_commitment = { status: 'committed', hash: canonicalHash(forecast as JsonObject) };
    expect(svc).toMatchObject({ payload: { fulfillment: { output_commitment } } });
    expect(await service.transfersFrom(payer)).toHaveLength(1);
  });

  it('on a whole task, on rail tfuel, by a route that has a price', async () => {
    const payer = await service.chain.newWallet();
    const body = { ...taskOf(payer, 'input'), model_id: 'one-2', payment: { rail: 'tfuel' } };
    const heard = await service.knock<Quote>('POST', QUOTE, { body, by: payingFetch(payer) });
    expect(heard.status).toBe(200);
    const { accounting, ...told } = heard.body.forecast;
    expect(told).toMatchObject({
      model: 'one-2',
      payment_rail: 'tfuel',
      fee_amount: '0',
      net_amount: '2000',
      fee_bps: 0,
    });
    const provider_cogs = { actual: 0, usd_mark: 700 };
    expect(accounting).toMatchObject({ pricing: 'live', provider_cogs, route_margin: '1300' });
  });
});

it(`POST ${QUOTE} 403 payer_mismatch where it names another sender than its payer`, async () => {
  const [payer, other] = [await service.chain.newWallet(), await service.chain.newWallet()];
  const refused = await service.post(QUOTE, taskOf(other), await service.payment(payer, QUOTE));
  expect(refused).toMatchObject({ status: 403, body: { code: 'payer_mismatch' } });
  expect(await service.claimsOf(payer)).toEqual([]);
});

testPaidDoor(() => service, {
  path: QUOTE,
  job_kind: 'other',
  body: (_, name) => ({ input_hash: hashOf(name) }),
  wrong: [
    ['message_type', { message_type: 'inference' }],
    ['chain_id', { chain_id: 'xno' }],
    ['amount', { amount: '1' }],
    ['model_id', { model_id: 'nobody-1' }],
    ['input_hash', { input_hash: '0x12' }],
  ],
});
