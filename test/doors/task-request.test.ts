import { beforeAll, describe, expect, it } from 'vitest';
import type { z } from 'zod';
import type { TaskAcceptedAnswer } from '../../rest-compat/inference/task-doors.ts';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { networks } from '../../schema/network.ts';
import { payingFetch, type Wallet } from '../harness/buyer.ts';
import { type ReceiptBody, type Service, sharedService } from '../harness/doors/open-service.ts';
import { testPaidDoor } from '../harness/doors/paid-door.ts';
import { hashOf, taskOf } from '../harness/doors/tasks.ts';

const TASK = '/task-request';
type TaskAnswer = Omit<z.infer<typeof TaskAcceptedAnswer>, 'svc'> & { readonly svc: ReceiptBody };

let service: Service;
beforeAll(async () => {
  service = await sharedService();
});

async function requested(members: JsonObject = {}, payer?: Wallet) {
  const account = payer ?? (await service.chain.newWallet());
  const body = { ...taskOf(account), ...members };
  const heard = await service.knock<TaskAnswer>('POST', TASK, { body, by: payingFetch(account) });
  return { ...heard, account };
}

describe(`POST ${TASK} 200`, () => {
  it('accepted: settled in full, with receipt, accounting and page; nothing was put to a hub', async () => {
    const { status, body, account } = await requested({ model_id: 'beta-1', input_hash: hashOf('input') });
    expect(status).toBe(200);
    const { svc, accounting, ...told } = body;
    expect(told).toEqual({
      task_id: svc.task_id,
      status: 'accepted',
      payment_rail: 'usdc',
      payment_ref: svc.payment_ref,
      verify_url: `${service.url}/receipt/${svc.task_id}`,
      gross_amount: '2000',
      settled_amount: '2000',
    });
    expect(accounting).toMatchObject({
      on_chain_deduction: false,
      route: { model: 'beta-1', hub: 'beta' },
      provider_cogs: { actual: 0, usd_mark: 0 },
      route_margin: '2000',
      pricing: 'unpriced',
    });
    expect(svc).toMatchObject({ hub: 'beta', model: 'beta-1', amount: '2000', proof_outcome: 'settled' });
    const output_commitment = { status: 'UNVERIFIED', hash: null, omission_rule: 'no_input' };
    expect(svc).toMatchObject({ payload: { fulfillment: { output_commitment } } });
    expect(service.hubs.flatMap(hub => hub.requests)).toEqual([]);
    expect(await service.transfersFrom(account)).toEqual([expect.objectContaining({ amount_atomic: 2000n })]);
    expect((await service.get(new URL(body.verify_url).pathname)).status).toBe(200);
  });

  it('without its answer, sent again: taken on once more, free, and its row says that it was answered', async () => {
    const { account } = await service.newAgent();
    const body = taskOf(account);
    const payment = await service.payment(account, TASK);
    const first = await service.post<TaskAnswer>(TASK, body, payment);
    expect(first.status).toBe(200);
    const { task_id } = first.body;
    await service.query('update payment_claim set answer_box = null where task_id = $1', [task_id]);
    const again = await service.post<TaskAnswer>(TASK, body, payment);
    expect(again).toMatchObject({ status: 200, body: { task_id, status: 'accepted' } });
    const events = await service.query<{ kind: string; body: JsonObject }>(
      `select kind, body from book_event where task_id = $1 and kind = 'correction'`,
      [task_id],
    );
    const by = { ...(again.body.accounting.route as JsonObject), answered_model: null, answered_catalogue_model: null };
    expect(events).toEqual([
      { kind: 'correction', body: { reason: 'answered_on_resend', output_sha256: null, ...by } },
    ]);
    // The second transfer is that of the registration.
    expect(await service.transfersFrom(account)).toHaveLength(2);
  });

  it('on rail tfuel: three members more, and paid in USDC all the same', async () => {
    const { body, account } = await requested({ payment: { rail: 'tfuel' } });
    expect(body).toMatchObject({ payment_rail: 'tfuel', fee_amount: '0', net_amount: '2000', fee_bps: 0 });
    expect(body).toMatchObject({ gross_amount: '2000', settled_amount: '2000' });
    expect(body.svc).toMatchObject({ payload: { payment: { rail: 'usdc', network: 'base' } } });
    expect(await service.transfersFrom(account)).toHaveLength(1);
  });

  it.each(['base', networks.base.caip2, '8453'])('whichever name the network has: %s', async chain_id => {
    expect((await requested({ chain_id })).status).toBe(200);
  });

  it('whichever case the sender is spelt in', async () => {
    const payer = await service.chain.newWallet();
    expect((await requested({ sender: payer.address.toLowerCase() }, payer)).status).toBe(200);
  });
});

it(`POST ${TASK} 200 to a payment whose answer was lost: made once more, and the same from then on`, async () => {
  const payer = await service.chain.newWallet();
  const payment = await service.payment(payer, TASK);
  const send = () => service.post<TaskAnswer>(TASK, taskOf(payer), payment);
  const { task_id } = (await send()).body;
  await service.query('update payment_claim set answer_box = null where task_id = $1', [task_id]);
  const again = (await send()).body;
  expect(again).toMatchObject({ task_id, status: 'accepted', settled_amount: '2000' });
  expect((await send()).body).toEqual(again);
  expect(await service.transfersFrom(payer)).toHaveLength(1);
});

it(`POST ${TASK} 200 by a key: accepted, and unpaid; no amount or margin is shown of what was not paid`, async () => {
  const payer = await service.chain.newWallet();
  const heard = await service.post<TaskAnswer>(TASK, taskOf(payer), { 'X-API-Key': 'a-live-key' });
  expect(heard).toMatchObject({ status: 200, body: { status: 'accepted', payment_ref: null, settled_amount: null } });
  expect(heard.body).toMatchObject({ accounting: { route_margin: null } });
  expect(heard.body).not.toHaveProperty('gross_amount');
  const unpaid = { status: 'accepted', proof_outcome: 'none' };
  const { body } = await service.get(`/task-status?task_id=${heard.body.task_id}`);
  expect(body).toMatchObject({ ...unpaid, payment_ref: null });
  const proof = await service.get(`/prove-result?task_id=${heard.body.task_id}&requested=true`);
  expect(proof.body).toMatchObject({ ...unpaid, shown_for: null, settlement: null, inclusion: { log_id: 1 } });
  expect(await service.transfersFrom(payer)).toEqual([]);
});

describe(`POST ${TASK} refused before anything is claimed`, () => {
  it('403 payer_mismatch where somebody else is named as the sender', async () => {
    const [payer, other] = [await service.chain.newWallet(), await service.chain.newWallet()];
    const payment = await service.payment(payer, TASK);
    const refused = await service.post(TASK, taskOf(other), payment);
    expect(refused).toMatchObject({ status: 403, body: { code: 'payer_mismatch', charged: false } });
    expect(await service.claimsOf(payer)).toEqual([]);
    expect((await service.post(TASK, taskOf(payer), payment)).status).toBe(200);
  });

  it('400 where the task names another network than the payment', async () => {
    const payer = await service.chain.newWallet();
    const body = { ...taskOf(payer), chain_id: 'solana' };
    const refused = await service.post(TASK, body, await service.payment(payer, TASK));
    expect(refused).toMatchObject({ status: 400, body: { error: { param: 'chain_id' } } });
    expect(await service.claimsOf(payer)).toEqual([]);
  });
});

testPaidDoor(() => service, {
  path: TASK,
  job_kind: 'completions',
  body: taskOf,
  wrong: [
    ['message_type', { message_type: 'inference' }],
    ['chain_id', { chain_id: 'tfuel' }],
    ['amount', { amount: '2001' }],
    ['amount', { amount: 2000 }],
    ['sender', { sender: '0x12' }],
    ['model_id', { model_id: 'nobody-1' }],
    ['input_hash', { input_hash: 'ab'.repeat(32) }],
    ['payment.rail', { payment: { rail: 'xno' } }],
  ],
});
