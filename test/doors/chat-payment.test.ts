import { decodePaymentRequiredHeader, decodePaymentResponseHeader } from '@x402/core/http';
import { beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { limits } from '../../schema/limits.ts';
import { registrationOf } from '../harness/buyer.ts';
import { makePayment, submitElsewhere } from '../harness/doors/make-payment.ts';
import {
  ask,
  CHAT,
  type ChallengeBody,
  type Chat,
  openService,
  PRICE,
  REGISTER,
  resetHubsBeforeEach,
  type Service,
} from '../harness/doors/open-service.ts';

let service: Service;
beforeAll(async () => {
  // The longest time limit for hubs, so that none is exceeded while a slow machine runs 150 calls.
  service = await openService({ HUB_TIMEOUT_MS: String(limits.hubs_timeout_ms) });
});
resetHubsBeforeEach(() => service);

describe('POST /v1/chat/completions with a payment that was seen before', () => {
  it('200 idempotent_replay: the same signed bytes, no second transfer', async () => {
    const payer = await service.chain.newWallet();
    const payment = await service.payment(payer, CHAT);
    const first = await service.post<Chat>(CHAT, ask('Twice'), payment);
    // The order of members, and members without effect, do not make it a different request.
    const again = await service.post<Chat>(CHAT, { user: 'me', stream: false, ...ask('Twice') }, payment);
    expect([first.status, again.status]).toEqual([200, 200]);
    expect(again.body.svc.issuer_signature.jws).toBe(first.body.svc.issuer_signature.jws);
    const settled = { ...first.body, svc: { ...first.body.svc, settlement_status: 'idempotent_replay' } };
    expect(again.body).toEqual(settled);
    expect(first.headers.get('x-svc-settlement-status')).toBe('settled');
    expect(again.headers.get('x-svc-settlement-status')).toBe('idempotent_replay');
    expect(again.headers.get('PAYMENT-RESPONSE')).toBe(first.headers.get('PAYMENT-RESPONSE'));
    const { payload } = (
      await service.get<{ payload: { payment: JsonObject } }>(`/receipt/${first.body.svc.task_id}.json`)
    ).body;
    expect(decodePaymentResponseHeader(first.headers.get('PAYMENT-RESPONSE') ?? '')).toMatchObject({
      transfer_index: payload.payment.transfer_index,
    });
    expect(payload.payment.transfer_index).toEqual(expect.any(Number));
    expect(await service.transfersFrom(payer)).toHaveLength(1);
  });

  it('200 to many at once: one is settled, the rest are replays or told to come again', async () => {
    const payer = await service.chain.newWallet();
    const payment = await service.payment(payer, CHAT);
    const heard = await Promise.all(Array.from({ length: 8 }, () => service.post<Chat>(CHAT, ask('Race'), payment)));
    const settled = heard.filter(({ headers }) => headers.get('x-svc-settlement-status') === 'settled');
    expect(settled).toHaveLength(1);
    for (const { status, headers, body } of heard) {
      if (status === 200) {
        expect(body.svc.issuer_signature.jws).toBe(settled[0]?.body.svc.issuer_signature.jws);
      } else {
        expect({ status, ...body }).toMatchObject({ status: 409, code: 'payment_in_flight' });
        expect(Number(headers.get('Retry-After'))).toBeGreaterThan(0);
      }
    }
    expect(await service.transfersFrom(payer)).toHaveLength(1);
  });

  it('409 claim_already_settled on another request', async () => {
    const payer = await service.chain.newWallet();
    const payment = await service.payment(payer, CHAT);
    await service.post(CHAT, ask('One'), payment);
    const { status, body, headers } = await service.post(CHAT, ask('Another'), payment);
    expect({ status, code: body.code }).toEqual({ status: 409, code: 'claim_already_settled' });
    expect(headers.get('x-should-retry')).toBe('false');
    expect(await service.transfersFrom(payer)).toHaveLength(1);
  });

  it('409 claim_already_settled at another door', async () => {
    const payer = await service.chain.newWallet();
    const payment = await service.payment(payer, CHAT);
    await service.post(CHAT, ask(), payment);
    const { status, body } = await service.post(REGISTER, await registrationOf(payer), payment);
    expect({ status, code: body.code }).toEqual({ status: 409, code: 'claim_already_settled' });
    expect(await service.transfersFrom(payer)).toHaveLength(1);
  });

  it('410 answer_gone once the answer is kept no longer; the receipt stands', async () => {
    const payer = await service.chain.newWallet();
    const payment = await service.payment(payer, CHAT);
    const { body } = await service.post<Chat>(CHAT, ask('Forgotten'), payment);
    await service.query(`update payment_claim set answer_box = null, request_box = '' where task_id = $1`, [
      body.svc.task_id,
    ]);
    const gone = await service.post(CHAT, ask('Forgotten'), payment);
    expect({ status: gone.status, ...gone.body }).toMatchObject({
      status: 410,
      code: 'answer_gone',
      verify_url: body.svc.verify_url,
    });
    expect(await service.transfersFrom(payer)).toHaveLength(1);
  });
});

describe('POST /v1/chat/completions with a payment that somebody else has used first', () => {
  it('200 with a receipt of that very transfer, and no other transfer', async () => {
    const payer = await service.chain.newWallet();
    const made = await makePayment(service, payer);
    const transaction = await submitElsewhere(service, made);
    const heard = await service.post<Chat>(CHAT, ask(), made.headers);
    expect(heard.status).toBe(200);
    expect(heard.body.svc.payment_ref).toBe(`base:${transaction}`);
    expect(decodePaymentResponseHeader(heard.headers.get('PAYMENT-RESPONSE') ?? '')).toMatchObject({
      success: true,
      transaction,
    });
    expect(await service.transfersFrom(payer)).toHaveLength(1);
    expect((await service.post(CHAT, ask(), made.headers)).headers.get('x-svc-settlement-status')).toBe(
      'idempotent_replay',
    );
  });

  it('402 where its nonce went into another payment: no hub is asked, and the next payment pays', async () => {
    const payer = await service.chain.newWallet();
    const made = await makePayment(service, payer);
    const { nonce } = made.message;
    await submitElsewhere(service, await makePayment(service, payer, { signed: { nonce, to: payer.address } }));
    const before = service.hubs[0].requests.length;
    const heard = await service.post<ChallengeBody>(CHAT, ask(), made.headers);
    expect(heard).toMatchObject({ status: 402, body: { error: 'used_otherwise' } });
    expect(service.hubs[0].requests.length).toBe(before);
    expect(await service.transfersFrom(payer)).toEqual([]);
    expect((await service.post(CHAT, ask(), (await makePayment(service, payer)).headers)).status).toBe(200);
    expect(await service.transfersFrom(payer)).toHaveLength(1);
  });
});

describe('POST /v1/chat/completions on its way', () => {
  it('409 payment_in_flight to whoever sends the payment again, and 200 to both in the end', async () => {
    const payer = await service.chain.newWallet();
    const payment = await service.payment(payer, CHAT);
    const before = service.gates.alpha.held();
    service.gates.alpha.hold();
    const first = service.post<Chat>(CHAT, ask('Slow', { model: 'alpha-1' }), payment);
    await expect.poll(service.gates.alpha.held).toBe(before + 1);
    const early = await service.post(CHAT, ask('Slow', { model: 'alpha-1' }), payment);
    expect({ status: early.status, code: early.body.code }).toEqual({ status: 409, code: 'payment_in_flight' });
    expect(Number(early.headers.get('Retry-After'))).toBeGreaterThan(0);
    const foreign = await service.post(CHAT, ask('Another'), payment);
    expect({ status: foreign.status, code: foreign.body.code }).toEqual({ status: 409, code: 'payment_already_used' });
    service.gates.alpha.open();
    expect((await first).status).toBe(200);
    expect((await service.post(CHAT, ask('Slow', { model: 'alpha-1' }), payment)).status).toBe(200);
    expect(await service.transfersFrom(payer)).toHaveLength(1);
  });

  it('200 to others while a hub lets 150 calls wait, which get their answers in the end', async () => {
    const payers = await Promise.all(Array.from({ length: 150 }, () => service.chain.newWallet()));
    const payments = await Promise.all(payers.map(payer => service.payment(payer, CHAT)));
    const before = service.gates.alpha.held();
    service.gates.alpha.hold();
    let answered = 0;
    const waiting = payments.map(async payment => {
      const { status } = await service.post(CHAT, ask('Wait', { model: 'alpha-1' }), payment);
      answered += 1;
      return status;
    });
    // The number of connections to one hub. Further calls wait for one of them.
    await expect.poll(service.gates.alpha.held).toBe(before + limits.hub_connections_max);
    const others = await Promise.all(
      [1, 2, 3].map(async () => service.buy(await service.chain.newWallet(), ask('Now', { model: 'beta-1' }))),
    );
    expect(others.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect((await service.get('/health')).body).toMatchObject({ status: 'ok' });
    expect(answered).toBe(0);
    service.gates.alpha.open();
    expect(new Set(await Promise.all(waiting))).toEqual(new Set([200]));
  });

  it('GET /task-status 200: working while the hub thinks, completed with the receipt', async () => {
    const payer = await service.chain.newWallet();
    const before = service.gates.alpha.held();
    service.gates.alpha.hold();
    const bought = service.buy(payer, ask('Think', { model: 'alpha-1' }));
    await expect.poll(service.gates.alpha.held).toBe(before + 1);
    const [claim] = await service.query<{ task_id: string }>('select task_id from payment_claim where payer = $1', [
      payer.address,
    ]);
    const task_id = claim?.task_id ?? '';
    const status = async () => (await service.get(`/task-status?task_id=${task_id}`)).body;
    const verify_url = `${service.url}/receipt/${task_id}`;
    expect(await status()).toEqual({
      task_id,
      status: 'working',
      proof_outcome: 'pending',
      payment_ref: null,
      verify_url,
    });
    expect((await service.get(`/receipt/${task_id}`)).status).toBe(404);
    service.gates.alpha.open();
    const { payment_ref } = (await bought).body.svc;
    expect(await status()).toEqual({ task_id, status: 'completed', proof_outcome: 'settled', payment_ref, verify_url });
  });

  it('503 chain_unavailable, not charged, and 200 by the same payment once the chain is back', async () => {
    const payer = await service.chain.newWallet();
    const payment = await service.payment(payer, CHAT);
    service.gates.base.cut();
    const away = await service.post(CHAT, ask(), payment);
    expect({ status: away.status, ...away.body }).toMatchObject({
      status: 503,
      code: 'chain_unavailable',
      charged: false,
    });
    expect(Number(away.headers.get('Retry-After'))).toBeGreaterThan(0);
    expect(await service.get('/health')).toMatchObject({ status: 200, body: { status: 'degraded', away: ['base'] } });
    service.gates.base.open();
    expect((await service.post(CHAT, ask(), payment)).status).toBe(200);
    expect(await service.transfersFrom(payer)).toHaveLength(1);
  });
});

describe('POST /v1/chat/completions refused, and the payment stays usable', () => {
  const refusals: [string, number, string, unknown, Record<string, string>][] = [
    ['400 without messages', 400, 'invalid_request', {}, {}],
    ['400 on a body that is no JSON', 400, 'invalid_request', '{{{', {}],
    ['400 on a temperature above 2', 400, 'invalid_request', ask(undefined, { temperature: 2.1 }), {}],
    ['400 on an unknown role', 400, 'invalid_request', { messages: [{ role: 'tool', content: '' }] }, {}],
    ['400 on a negative attempt_index', 400, 'invalid_request', ask(undefined, { attempt_index: -1 }), {}],
    ['400 on a malformed X-SVC-Attempt', 400, 'invalid_request', ask(), { 'x-svc-attempt': '1e2' }],
    ['400 on a model that nobody offers', 400, 'unknown_model', ask(undefined, { model: 'gamma-1' }), {}],
    ['413 on a body beyond 1 MiB', 413, 'request_too_large', ask('x'.repeat(1024 * 1024)), {}],
    ['415 on another media type', 415, 'unsupported_media_type', 'a=b', { 'content-type': 'text/plain' }],
    [
      '400 on a second payment header that cannot be read',
      400,
      'invalid_payment',
      ask(),
      { 'PAYMENT-SIGNATURE': '???' },
    ],
  ];
  it.each(refusals)('%s', async (_, status, code, body, headers) => {
    const payer = await service.chain.newWallet();
    const payment = await service.payment(payer, CHAT);
    const refused = await service.post(CHAT, body, { ...payment, ...headers });
    expect({ status: refused.status, code: refused.body.code }).toEqual({ status, code });
    expect(refused.body).toMatchObject({ error: { code, type: 'invalid_request_error' } });
    expect(await service.transfersFrom(payer)).toEqual([]);
    expect((await service.post<Chat>(CHAT, ask(), payment)).status).toBe(200);
    expect(await service.transfersFrom(payer)).toHaveLength(1);
  });

  it('402 insufficient_funds, and 200 once the wallet is filled', async () => {
    const payer = await service.chain.newWallet(PRICE - 1n);
    const payment = await service.payment(payer, CHAT);
    const poor = await service.post<ChallengeBody>(CHAT, ask(), payment);
    expect(poor).toMatchObject({ status: 402, body: { error: 'insufficient_funds' } });
    expect(decodePaymentRequiredHeader(poor.headers.get('PAYMENT-REQUIRED') ?? '')).toMatchObject({
      error: 'insufficient_funds',
      resource: { url: service.url + CHAT },
    });
    await service.chain.mint(payer.address, 1n);
    expect((await service.post(CHAT, ask(), payment)).status).toBe(200);
  });

  it('403 on a wrong session, before any charge', async () => {
    const payer = await service.chain.newWallet();
    const payment = await service.payment(payer, CHAT);
    const heard = await service.post(CHAT, ask(), { ...payment, 'X-SVC-Session': 'svcs_guessed' });
    expect(heard).toMatchObject({ status: 403, text: '' });
    expect(await service.transfersFrom(payer)).toEqual([]);
    expect((await service.post(CHAT, ask(), payment)).status).toBe(200);
  });

  it('502 where every hub failed: not charged', async () => {
    const payer = await service.chain.newWallet();
    const payment = await service.payment(payer, CHAT);
    for (const hub of service.hubs) hub.behave({ kind: 'close' });
    const failed = await service.post(CHAT, ask(), payment);
    expect(failed).toMatchObject({ status: 502, body: { code: 'hub_failed', charged: false } });
    expect(await service.transfersFrom(payer)).toEqual([]);
    for (const hub of service.hubs) hub.behave({ kind: 'answer' });
    expect((await service.post(CHAT, ask(), payment)).status).toBe(200);
    expect(await service.transfersFrom(payer)).toHaveLength(1);
  });
});
