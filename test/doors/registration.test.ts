import { decodePaymentRequiredHeader, decodePaymentResponseHeader } from '@x402/core/http';
import { beforeAll, describe, expect, it } from 'vitest';
import { limits } from '../../schema/limits.ts';
import { nowSeconds, type RegistrationBody, registrationOf } from '../harness/buyer.ts';
import {
  type ChallengeBody,
  openService,
  REGISTER,
  type RegistrationAnswer,
  type Service,
} from '../harness/doors/open-service.ts';

let service: Service;
beforeAll(async () => {
  service = await openService({ DEMO_KEYS: 'a-demo-key', WAIVER_KEYS: 'a-waiver-key' });
});

interface Book {
  readonly entries: readonly { readonly task_id: string; readonly payment: { readonly ref: string } }[];
}

const book = (agent_id: number, session: string) =>
  service.get<Book>(`/v1/agents/${agent_id}/book`, { 'X-SVC-Session': session });

/** A wallet with money, the signed body of its registration and a payment for it. Neither was sent yet. */
async function applicant() {
  const account = await service.chain.newWallet();
  return { account, body: await registrationOf(account), payment: await service.payment(account, REGISTER) };
}

describe('POST /v1/agents/register', () => {
  it.each([
    ['GET', 'GET', undefined],
    ['an empty POST', 'POST', undefined],
    ['a body that names no task', 'POST', { agentWallet: 'nobody', task_id: null }],
    ['a junk body', 'POST', '{{{'],
  ])('402 on %s: Base alone is offered', async (_, method, body) => {
    const heard = await service.knock<{ accepts: { network: string }[] }>(method, REGISTER, { body });
    expect(heard.status).toBe(402);
    expect(heard.body.accepts).toEqual([expect.objectContaining({ network: 'base', maxAmountRequired: '2000' })]);
    const required = decodePaymentRequiredHeader(heard.headers.get('PAYMENT-REQUIRED') ?? '');
    expect(required.accepts).toEqual([expect.objectContaining({ network: 'eip155:8453', amount: '2000' })]);
  });

  it.each([
    ['a-live-key', 402],
    ['a-waiver-key', 402],
    // A demo key writes nothing, with or without a payment.
    ['a-demo-key', 403],
  ])('%s proves no wallet: %i', async (key, status) => {
    const { body } = await applicant();
    expect((await service.post(REGISTER, body, { 'X-API-Key': key })).status).toBe(status);
  });

  it('402 to a wallet without funds: Base alone is offered', async () => {
    const account = await service.chain.newWallet(0n);
    const payment = await service.payment(account, REGISTER);
    const heard = await service.post<ChallengeBody>(REGISTER, await registrationOf(account), payment);
    expect(heard).toMatchObject({ status: 402, body: { error: 'insufficient_funds' } });
    expect(heard.body.accepts).toEqual([expect.objectContaining({ network: 'base' })]);
  });

  it('200 by the stamp: agent, session, and the stamp as a collected row of the new book', async () => {
    const { account, body, payment } = await applicant();
    const heard = await service.post<RegistrationAnswer>(REGISTER, body, payment);
    expect(heard.status).toBe(200);
    const { agent_id, session, task_id } = heard.body;
    expect(heard.body).toEqual({
      agent_id: expect.any(Number),
      agentWallet: account.address,
      session: expect.stringMatching(/^svcs_/),
      task_id: expect.stringMatching(/^task_/),
      validate_score: null,
      settlement_status: 'settled',
      idempotent_replay: false,
      request_hash: expect.stringMatching(/^0x[0-9a-f]{64}$/),
      replay_of: null,
    });
    const settled = decodePaymentResponseHeader(heard.headers.get('PAYMENT-RESPONSE') ?? '');
    expect(settled).toMatchObject({ success: true, payer: account.address });
    const [transfer] = await service.transfersFrom(account);
    expect(transfer).toMatchObject({ tx_hash: settled.transaction, amount_atomic: 2000n });

    const opened = await book(agent_id, session);
    expect(opened.body).toMatchObject({
      agent_id,
      totals: { count: 1, usdc_sum: '2000', by_rail: { usdc: { count: 1, amount: '2000' } } },
      spent: '2000',
    });
    expect(opened.body.entries).toEqual([
      expect.objectContaining({
        task_id,
        evidence: 'collected',
        collected: true,
        payment: { ref: `base:${settled.transaction}`, rail: 'usdc', amount: '2000' },
        payer_wallet: account.address,
      }),
    ]);
    expect((await service.get(`/receipt/${task_id}`)).body).toMatchObject({ task_id, claim_id: agent_id });
    expect((await service.get(`/task-status?task_id=${task_id}`)).body).toMatchObject({ status: 'completed' });
  });

  it('200 idempotent_replay of the same payment: the same answer, no second transfer', async () => {
    const { account, body, payment } = await applicant();
    const first = await service.post<RegistrationAnswer>(REGISTER, body, payment);
    const again = await service.post<RegistrationAnswer>(REGISTER, body, payment);
    expect(again).toMatchObject({ status: 200 });
    expect(again.headers.get('x-svc-settlement-status')).toBe('idempotent_replay');
    expect(again.body).toEqual({
      ...first.body,
      settlement_status: 'idempotent_replay',
      idempotent_replay: true,
      replay_of: first.body.task_id,
    });
    expect(await service.transfersFrom(account)).toHaveLength(1);
    const { entries } = (await book(first.body.agent_id, first.body.session)).body;
    expect(entries).toEqual([expect.objectContaining({ replay_count: 1 })]);
  });

  it('409 where a registered wallet pays again: refused before settle', async () => {
    const { account } = await service.newAgent();
    const again = await service.post(
      REGISTER,
      await registrationOf(account, { at: nowSeconds() - 1 }),
      await service.payment(account, REGISTER),
    );
    expect({ status: again.status, code: again.body.code }).toEqual({ status: 409, code: 'wallet_registered' });
    expect(await service.transfersFrom(account)).toHaveLength(1);
  });

  it('409 to all but one of several payments at once by one wallet: one transfer', async () => {
    const { account, body } = await applicant();
    const payments = await Promise.all([1, 2, 3, 4].map(() => service.payment(account, REGISTER)));
    const heard = await Promise.all(payments.map(payment => service.post(REGISTER, body, payment)));
    expect(heard.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409]);
    expect(await service.transfersFrom(account)).toHaveLength(1);
  });

  it('409 on another registration with the same payment', async () => {
    const { account, body, payment } = await applicant();
    await service.post(REGISTER, body, payment);
    const other = await service.post(REGISTER, await registrationOf(account, { at: nowSeconds() - 5 }), payment);
    expect(other.status).toBe(409);
    expect(await service.transfersFrom(account)).toHaveLength(1);
  });
});

describe('POST /v1/agents/register refused before settle, and the payment stays usable', () => {
  type Change = (body: RegistrationBody) => object | Promise<object>;
  const stranger = () => service.chain.newWallet(0n);
  const refusals: [title: string, status: number, code: string, change: Change][] = [
    ['400 without agentWallet', 400, 'invalid_request', body => ({ ...body, agentWallet: undefined })],
    ['400 on a wallet that is no address', 400, 'invalid_wallet', body => ({ ...body, agentWallet: '0x12' })],
    [
      '400 on a request_hash of 31 bytes',
      400,
      'invalid_request',
      body => ({ ...body, request_hash: `0x${'ab'.repeat(31)}` }),
    ],
    [
      '400 on a proof: there is no session yet that could have made it',
      400,
      'invalid_proof',
      body => ({ ...body, proof: `sha256=${'ab'.repeat(32)}` }),
    ],
    ['401 without a signature', 401, 'control_proof_missing', body => ({ ...body, wallet_signature: undefined })],
    ['401 without its time', 401, 'control_proof_missing', body => ({ ...body, signature_timestamp: undefined })],
    [
      '401 on a signature by another wallet',
      401,
      'control_proof_invalid',
      async body => ({
        ...body,
        wallet_signature: (await registrationOf(await stranger(), { at: body.signature_timestamp })).wallet_signature,
      }),
    ],
    [
      '401 on a signature over another time',
      401,
      'control_proof_invalid',
      body => ({ ...body, signature_timestamp: body.signature_timestamp - 1 }),
    ],
    [
      '403 where another wallet is to be registered than pays',
      403,
      'payer_mismatch',
      async () => registrationOf(await stranger()),
    ],
  ];
  it.each(refusals)('%s', async (_, status, code, change) => {
    const { account, body, payment } = await applicant();
    const refused = await service.post(REGISTER, await change(body), payment);
    expect({ status: refused.status, code: refused.body?.code }).toEqual({ status, code });
    expect(await service.transfersFrom(account)).toEqual([]);
    expect((await service.post(REGISTER, body, payment)).status).toBe(200);
    expect(await service.transfersFrom(account)).toHaveLength(1);
  });

  it.each([
    ['older than 300 seconds', -301],
    ['from the future', 60],
  ])('401 on a signature %s', async (_, seconds) => {
    const { account, payment } = await applicant();
    const stale = await service.post(REGISTER, await registrationOf(account, { at: nowSeconds() + seconds }), payment);
    expect({ status: stale.status, code: stale.body.code }).toEqual({ status: 401, code: 'control_proof_invalid' });
    expect(await service.transfersFrom(account)).toEqual([]);
  });
});

describe('POST /v1/agents/register, where something gives way', () => {
  it('400 on a payment header that cannot be read', async () => {
    const { body } = await applicant();
    const heard = await service.post(REGISTER, body, { 'PAYMENT-SIGNATURE': '!!!' });
    expect({ status: heard.status, code: heard.body.code }).toEqual({ status: 400, code: 'invalid_payment' });
  });

  it.each([
    ['400 on a body that is no JSON', 400, '{"agentWallet":', {}],
    ['413 on a body too large', 413, { filler: 'x'.repeat(limits.request_bytes_max) }, {}],
    ['415 on a form', 415, 'agentWallet=0x', { 'content-type': 'application/x-www-form-urlencoded' }],
  ])('%s: the payment stays usable', async (_, status, junk, headers) => {
    const { account, body, payment } = await applicant();
    expect((await service.post(REGISTER, junk, { ...payment, ...headers })).status).toBe(status);
    expect((await service.post(REGISTER, body, payment)).status).toBe(200);
    expect(await service.transfersFrom(account)).toHaveLength(1);
  });

  it('403 with a wrong session beside the payment: empty body, before any charge', async () => {
    const { account, body, payment } = await applicant();
    const refused = await service.post(REGISTER, body, { ...payment, 'X-SVC-Session': 'guess' });
    expect({ status: refused.status, text: refused.text }).toEqual({ status: 403, text: '' });
    expect(await service.transfersFrom(account)).toEqual([]);
  });

  it('410 on the same payment once the session that it bought has ended', async () => {
    const { account, body, payment } = await applicant();
    const { task_id } = (await service.post<RegistrationAnswer>(REGISTER, body, payment)).body;
    await service.post(REGISTER, await registrationOf(account, { task_id }));
    const again = await service.post(REGISTER, body, payment);
    expect(again).toMatchObject({
      status: 410,
      body: { code: 'answer_gone', verify_url: `${service.url}/receipt/${task_id}` },
    });
    expect(await service.transfersFrom(account)).toHaveLength(1);
  });

  it('503 where the chain cannot say whose signature it is: nothing is charged, the payment stays usable', async () => {
    const { account, body, payment } = await applicant();
    service.gates.base.cut();
    const refused = await service.post(REGISTER, body, payment).finally(() => service.gates.base.open());
    expect(refused).toMatchObject({ status: 503, body: { code: 'chain_unavailable', charged: false } });
    expect(refused.headers.get('retry-after')).not.toBeNull();
    expect(await service.transfersFrom(account)).toEqual([]);
    expect((await service.post(REGISTER, body, payment)).status).toBe(200);
    expect(await service.transfersFrom(account)).toHaveLength(1);
  });
});
