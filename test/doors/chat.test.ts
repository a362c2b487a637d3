import { decodePaymentRequiredHeader, decodePaymentResponseHeader } from '@x402/core/http';
import { createLocalJWKSet, type JSONWebKeySet, jwtVerify } from 'jose';
import OpenAI from 'openai';
import { beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { networks } from '../../schema/network.ts';
import { verifyReceipt } from '../../subgraphs/receipt/verify/receipt.ts';
import { handMadePayment, payingFetch } from '../harness/buyer.ts';
import {
  ask,
  CHAT,
  type ChallengeBody,
  type Chat,
  PRICE,
  resetHubsBeforeEach,
  type Service,
  sharedService,
} from '../harness/doors/open-service.ts';

let service: Service;
beforeAll(async () => {
  service = await sharedService();
});
resetHubsBeforeEach(() => service);

const paidOnce = (chat: Chat) => ({
  tx_hash: chat.svc.payment_ref.replace('base:', ''),
  to: service.pay_to.toLowerCase(),
  amount_atomic: PRICE,
});

describe('POST /v1/chat/completions unpaid', () => {
  it.each<[string, string, RequestInit]>([
    ['GET', 'GET', {}],
    ['an empty POST', 'POST', {}],
    ['an empty object', 'POST', { body: '{}', headers: { 'content-type': 'application/json' } }],
    ['a junk body', 'POST', { body: '{{{ no json', headers: { 'content-type': 'text/plain' } }],
    ['a body that is no chat', 'POST', { body: '{"messages":7}', headers: { 'content-type': 'application/json' } }],
    ['a key that nobody knows', 'POST', { headers: { authorization: 'Bearer unknown' } }],
  ])('402 on %s, with v2 in the header and v1 in the body', async (_, method, init) => {
    const heard = await service.knock<ChallengeBody>(
      method,
      CHAT,
      init as { body?: string; headers?: Record<string, string> },
    );
    expect(heard.status).toBe(402);
    const url = service.url + CHAT;
    const terms = {
      scheme: 'exact',
      payTo: service.pay_to,
      asset: networks.base.usdc,
      extra: { name: 'USD Coin', version: '2' },
    };
    expect(heard.body).toMatchObject({ x402Version: 1, error: expect.any(String) });
    expect(heard.body.accepts).toEqual([
      expect.objectContaining({ ...terms, network: 'base', maxAmountRequired: '2000', resource: url }),
    ]);
    expect(decodePaymentRequiredHeader(heard.headers.get('PAYMENT-REQUIRED') ?? '')).toMatchObject({
      x402Version: 2,
      resource: { url },
      accepts: [{ ...terms, network: 'eip155:8453', amount: '2000' }],
    });
  });
});

describe('POST /v1/chat/completions paid', () => {
  it('200 by the official v2 client: answer, receipt, headers, one transfer', async () => {
    const payer = await service.chain.newWallet();
    const heard = await service.buy(payer, ask('Hello'));
    expect(heard.status).toBe(200);
    expect(heard.body).toMatchObject({
      object: 'chat.completion',
      model: expect.stringMatching(/-1$/),
      choices: [{ index: 0, message: { role: 'assistant', content: expect.stringContaining('"Hello"') } }],
      usage: { prompt_tokens: 1 },
    });
    const { svc } = heard.body;
    expect(svc).toMatchObject({
      task_id: expect.stringMatching(/^task_[0-9a-z]{26}$/),
      verify_url: `${service.url}/receipt/${svc.task_id}`,
      payment_ref: expect.stringMatching(/^base:0x[0-9a-f]{64}$/),
      proof_outcome: 'settled',
      settlement_status: 'settled',
      payload_version: 11,
      amount: '2000',
      payer_wallet: payer.address,
      caller_binding: { payer_wallet: payer.address },
      settled_by: 'observed_transfer',
    });
    expect(svc).not.toHaveProperty('claim_id');
    expect(heard.body.id).toBe(`chatcmpl-${svc.task_id}`);
    expect(await service.transfersFrom(payer)).toEqual([expect.objectContaining(paidOnce(heard.body))]);

    const carried = ['task_id', 'verify_url', 'payment_ref', 'proof_outcome', 'model', 'hub', 'amount', 'payload_hash'];
    for (const name of carried) expect(heard.headers.get(`x-svc-${name.replaceAll('_', '-')}`)).toBe(svc[name]);
    expect([...heard.headers.values()].join()).not.toContain(svc.issuer_signature.jws);
    expect(heard.headers.get('x-svc-settlement-status')).toBe('settled');
    expect(heard.headers.has('X-PAYMENT-RESPONSE')).toBe(false);
    expect(decodePaymentResponseHeader(heard.headers.get('PAYMENT-RESPONSE') ?? '')).toEqual({
      success: true,
      transaction: svc.payment_ref.replace('base:', ''),
      transfer_index: expect.any(Number),
      network: networks.base.caip2,
      payer: payer.address,
      extensions: { 'offer-receipt': expect.anything() },
    });
  });

  it('200 by the official client speaking v1', async () => {
    const payer = await service.chain.newWallet();
    const heard = await service.knock<Chat>('POST', CHAT, { body: ask(), by: payingFetch(payer, 1) });
    expect(heard.status).toBe(200);
    expect(heard.headers.has('PAYMENT-RESPONSE')).toBe(false);
    expect(decodePaymentResponseHeader(heard.headers.get('X-PAYMENT-RESPONSE') ?? '')).toMatchObject({
      success: true,
      network: 'base',
      transaction: heard.body.svc.payment_ref.replace('base:', ''),
    });
    expect(await service.transfersFrom(payer)).toEqual([expect.objectContaining(paidOnce(heard.body))]);
  });

  it('200 by an X-PAYMENT made by hand from the 402 body', async () => {
    const payer = await service.chain.newWallet();
    const heard = await service.post<Chat>(CHAT, ask(), await handMadePayment(payer, await service.offer(CHAT)));
    expect(heard.status).toBe(200);
    expect(await service.transfersFrom(payer)).toEqual([expect.objectContaining(paidOnce(heard.body))]);
  });

  it('200 with every field of a request: the hub gets its own, the receipt the intent', async () => {
    const payer = await service.chain.newWallet();
    const messages = [
      { role: 'system', content: 'Be short.' },
      { role: 'user', content: 'Count to ten, please.' },
      { role: 'assistant', content: 'One.' },
    ];
    const members = { model: 'beta-1', max_tokens: 3, temperature: 1.5, stream: false };
    const intent = { intent_id: 'intent-body', attempt_index: 2 };
    const { status, body } = await service.buy(payer, { messages, ...members, ...intent, unheard_of: true });
    expect(status).toBe(200);
    expect(body).toMatchObject({ model: 'beta-1', choices: [{ finish_reason: 'length' }], svc: { hub: 'beta' } });
    expect(body.usage?.completion_tokens).toBe(3);
    expect(body.svc).toMatchObject({ payload: { fulfillment: { intent: { job_kind: 'completions', ...intent } } } });
    expect(service.hubs[1].requests.at(-1)?.body).toEqual({
      model: 'beta-1',
      messages,
      unheard_of: true,
      max_tokens: 3,
      temperature: 1.5,
    });
  });

  it('200 with X-SVC-Intent and X-SVC-Attempt: the same as by body, which goes first', async () => {
    const payer = await service.chain.newWallet();
    const headers = { 'X-SVC-Intent': 'intent-header', 'X-SVC-Attempt': '4' };
    const byHeader = await service.buy(payer, ask(), headers);
    expect(byHeader.body.svc).toMatchObject({
      payload: { fulfillment: { intent: { intent_id: 'intent-header', attempt_index: 4 } } },
    });
    const both = await service.buy(payer, ask(undefined, { intent_id: 'intent-body', attempt_index: 0 }), headers);
    expect(both.body.svc).toMatchObject({
      payload: { fulfillment: { intent: { intent_id: 'intent-body', attempt_index: 0 } } },
    });
  });

  it.each([
    ['in many scripts', 'Ünïcödé 漢字 🧾'],
    ['with every control character', String.fromCharCode(...Array.from({ length: 32 }, (_, code) => code), 127)],
  ])('200 on text %s: it comes back as it went', async (_, content) => {
    const { status, body } = await service.buy(await service.chain.newWallet(), ask(content));
    expect(status).toBe(200);
    expect(body.choices[0]?.message.content).toContain(content);
  });

  it('200 from the other hub where one fails', async () => {
    service.hubs[0].behave({ kind: 'status', status: 500 });
    const { status, body } = await service.buy(await service.chain.newWallet(), ask());
    expect({ status, hub: body.svc.hub, model: body.model }).toEqual({ status: 200, hub: 'beta', model: 'beta-1' });
  });

  it('the receipt verifies offline: with jose, and with our own verifier', async () => {
    const { body } = await service.buy(await service.chain.newWallet());
    const { body: jwks } = await service.get<JsonObject>('/.well-known/jwks.json');
    const keys = createLocalJWKSet(jwks as unknown as JSONWebKeySet);
    const { payload, protectedHeader } = await jwtVerify(body.svc.issuer_signature.jws, keys, {
      algorithms: ['ES256'],
      issuer: service.url,
    });
    expect(protectedHeader.kid).toBe(body.svc.issuer_signature.kid);
    expect(payload).toMatchObject({ jti: body.svc.task_id, payload_hash: body.svc.payload_hash, payload_version: 11 });

    const { settlement_status: _, ...document } = body.svc;
    for (const shown of [body.svc, document]) expect(verifyReceipt(shown, jwks)).toMatchObject({ kind: 'valid' });
    expect(verifyReceipt({ ...body.svc, amount: '1' }, jwks)).toMatchObject({ kind: 'invalid' });
  });
});

describe('by the official openai client', () => {
  const client = (buyer?: typeof fetch) =>
    new OpenAI({ baseURL: `${service.url}/v1`, apiKey: 'none', maxRetries: 0, ...(buyer ? { fetch: buyer } : {}) });

  it('chat.completions.create answers through a paying fetch', async () => {
    const payer = await service.chain.newWallet();
    const completion = await client(payingFetch(payer)).chat.completions.create({
      model: 'svc/auto',
      messages: [{ role: 'user', content: 'Who are you?' }],
      temperature: 0,
    });
    expect(completion.choices[0]?.message.content).toContain('Who are you?');
    expect(completion).toHaveProperty('svc.payment_ref');
    expect(await service.transfersFrom(payer)).toHaveLength(1);
  });

  it('a refusal is an APIError with status, code and param', async () => {
    const payer = await service.chain.newWallet();
    const call = client(payingFetch(payer)).chat.completions.create({
      model: 'gamma-1',
      messages: [{ role: 'user', content: 'Hello' }],
    });
    await expect(call).rejects.toMatchObject({ status: 400, code: 'unknown_model', param: 'model' });
  });

  it('models.list lists what may be named', async () => {
    const models = await client().models.list();
    expect(models.data.map(({ id, owned_by }) => [id, owned_by])).toEqual([
      ['svc/auto', 'svc'],
      ['alpha-1', 'alpha'],
      ['alpha-2', 'alpha'],
      ['beta-1', 'beta'],
    ]);
  });
});
