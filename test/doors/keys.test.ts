import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { decodePaymentRequiredHeader } from '@x402/core/http';
import { beforeAll, describe, expect, it } from 'vitest';
import { sha256Hex } from '../../schema/digest.ts';
import { limits } from '../../schema/limits.ts';
import { verifyReceipt } from '../../subgraphs/receipt/verify/receipt.ts';
import { payingFetch, registrationOf } from '../harness/buyer.ts';
import { askToStream, listen } from '../harness/doors/listen.ts';
import {
  ask,
  CHAT,
  type ChallengeBody,
  type Chat,
  openService,
  REGISTER,
  type ReceiptBody,
  resetHubsBeforeEach,
  type Service,
} from '../harness/doors/open-service.ts';

const LIVE = { 'X-API-Key': 'a-live-key' };
const HASH = sha256Hex('a-live-key');

let service: Service;
beforeAll(async () => {
  service = await openService({ WAIVER_KEYS: 'a-waiver-key' });
});
resetHubsBeforeEach(() => service);

const hubCalls = () => service.hubs.reduce((sum, hub) => sum + hub.requests.length, 0);
const claims = async () => (await service.query('select count(*)::int as n from payment_claim'))[0]?.n;
const underway = async () => (await service.query('select count(*)::int as n from key_call'))[0]?.n;
const receipts = async () => (await service.query('select count(*)::int as n from receipt'))[0]?.n;

/** Expects the members that a receipt has if its call was not paid for. */
async function expectWaived(svc: ReceiptBody): Promise<void> {
  expect(svc).toMatchObject({
    payment_ref: null,
    waived_by: 'live_key',
    proof_outcome: 'none',
    caller_binding: { api_key_hash: HASH },
    payload: { waived_by: 'live_key', caller_binding: { api_key_hash: HASH } },
  });
  for (const name of ['amount', 'payer_wallet']) expect(svc).not.toHaveProperty(name);
  expect(svc.settled_by).toBeNull();
  expect(svc.payload).not.toHaveProperty('payment');
  expect(svc.payload).toMatchObject({
    fulfillment: { authorization: { payer_wallet: null, delegation_hash: null, payment_ref: null } },
  });
  expect(verifyReceipt(svc, await service.jwks())).toMatchObject({ kind: 'valid' });
}

describe('POST /v1/chat/completions with a live key', () => {
  it.each([
    ['X-API-Key', LIVE],
    ['Authorization: Bearer', { Authorization: 'Bearer a-live-key' }],
    ['authorization: bearer', { authorization: 'bearer a-live-key' }],
  ])('200 by %s: the answer, a receipt that names no payment, and no claim on any', async (_, headers) => {
    const before = await claims();
    const heard = await service.post<Chat>(CHAT, ask('By key?'), headers);
    expect(heard.status).toBe(200);
    expect(heard.body.choices[0]?.message.content).toContain('You said: "By key?"');
    const { svc } = heard.body;
    await expectWaived(svc);
    expect(svc).not.toHaveProperty('claim_id');
    expect(svc).toMatchObject({ settlement_status: 'waived' });
    expect(heard.headers.get('x-svc-settlement-status')).toBe('waived');
    expect(heard.headers.get('x-svc-request-salt')).toMatch(/^[0-9a-f]{32}$/);
    for (const name of ['PAYMENT-RESPONSE', 'X-PAYMENT-RESPONSE', 'x-svc-payment-ref', 'x-svc-amount'])
      expect(heard.headers.get(name)).toBeNull();
    expect(await claims()).toBe(before);
    expect(await underway()).toBe(0);
    expect((await service.get(`/receipt/${svc.task_id}`, { accept: 'application/json' })).body).toMatchObject({
      payload_hash: svc.payload_hash,
      waived_by: 'live_key',
    });
    expect((await service.get(`/task-status?task_id=${svc.task_id}`)).body).toMatchObject({
      status: 'completed',
      proof_outcome: 'none',
      payment_ref: null,
    });
  });

  it('200 streamed: the text, and in the last chunk the same receipt', async () => {
    const heard = await listen(service, askToStream('Streamed by key?'), { headers: LIVE });
    expect(heard.status).toBe(200);
    expect(heard.headers.get('x-svc-settlement-status')).toBe('waived');
    for (const name of ['PAYMENT-RESPONSE', 'x-svc-payment-ref', 'x-svc-amount'])
      expect(heard.headers.get(name)).toBeNull();
    const { text, ends_well, svc } = await heard.rest();
    expect({ ends_well, text }).toEqual({ ends_well: true, text: expect.stringContaining('Streamed by key?') });
    await expectWaived(svc as ReceiptBody);
    expect(heard.headers.get('x-svc-task-id')).toBe(svc?.task_id);
    expect(await underway()).toBe(0);
  });

  it('200 twice for one request: each is work of its own, for no payment names them', async () => {
    const before = hubCalls();
    const [one, other] = [
      await service.post<Chat>(CHAT, ask('Twice'), LIVE),
      await service.post<Chat>(CHAT, ask('Twice'), LIVE),
    ];
    expect(one.body.svc.task_id).not.toBe(other.body.svc.task_id);
    expect(hubCalls()).toBe(before + 2);
    expect(one.headers.get('x-svc-request-salt')).not.toBe(other.headers.get('x-svc-request-salt'));
  });

  it('400 on a bad request, 502 where no hub answers: nothing stands of either', async () => {
    const before = await receipts();
    expect((await service.post(CHAT, { messages: [] }, LIVE)).status).toBe(400);
    expect((await service.post(CHAT, ask('x', { model: 'gamma-1' }), LIVE)).body).toMatchObject({
      code: 'unknown_model',
    });
    for (const hub of service.hubs) hub.behave({ kind: 'status', status: 500 });
    const failed = await service.post(CHAT, ask(), LIVE);
    expect(failed).toMatchObject({ status: 502, body: { code: 'hub_failed', charged: false } });
    const streamed = await listen(service, askToStream('x'), { headers: LIVE });
    expect(streamed.status).toBe(502);
    expect(await receipts()).toBe(before);
    await expect.poll(underway).toBe(0);
  });

  it('429 where one key has too many calls under way; they all come to their end', async () => {
    const release = Promise.withResolvers<void>();
    for (const hub of service.hubs) hub.behave({ kind: 'answer', until: release.promise });
    const max = limits.key_calls_underway_max;
    const calls = Array.from({ length: max }, (_, n) => service.post(CHAT, ask(`Under way ${n}`), LIVE));
    await expect.poll(underway).toBe(max);
    const refused = await service.post(CHAT, ask('One too many'), LIVE);
    expect(refused).toMatchObject({ status: 429, body: { code: 'rate_limited', charged: false } });
    expect(refused.headers.get('retry-after')).toBe('1');
    release.resolve();
    expect(new Set((await Promise.all(calls)).map(({ status }) => status))).toEqual(new Set([200]));
    expect((await service.post(CHAT, ask('Free again'), LIVE)).status).toBe(200);
  });

  it.each([
    ['an unknown key', { 'X-API-Key': 'somebody-elses' }],
    ['an empty one', { 'X-API-Key': '' }],
    ['a pilot waiver, which is for another stamp', { 'X-API-Key': 'a-waiver-key' }],
    ['a key by Basic', { Authorization: 'Basic a-live-key' }],
  ])('402 with %s, as without one', async (_, headers) => {
    const before = hubCalls();
    expect((await service.post(CHAT, ask(), headers)).status).toBe(402);
    expect(hubCalls()).toBe(before);
  });

  it.each<[string, Record<string, string>]>([
    ['X-API-Key', { 'X-API-Key': 'somebody-elses-key' }],
    ['Bearer', { Authorization: 'Bearer somebody-elses-key' }],
  ])(
    '402 unknown_api_key to a key by %s that nobody has: told so, with the same offer, and not what it was',
    async (_, headers) => {
      const heard = await service.post<ChallengeBody & { code: string }>(CHAT, ask(), headers);
      const plain = await service.post<ChallengeBody>(CHAT, ask());
      expect(heard).toMatchObject({ status: 402, body: { x402Version: 1, code: 'unknown_api_key' } });
      expect(heard.body.error).toContain('The API key is unknown');
      expect(heard.body.accepts).toEqual(plain.body.accepts);
      expect(plain.body).not.toHaveProperty('code');
      const v2 = decodePaymentRequiredHeader(heard.headers.get('PAYMENT-REQUIRED') ?? '');
      // The header has a short code, because there is little room for a sentence.
      expect(v2.x402Version).toBe(2);
      expect([heard.body.error, 'unknown_api_key']).toContain(v2.error);
      expect(v2.accepts).toEqual(decodePaymentRequiredHeader(plain.headers.get('PAYMENT-REQUIRED') ?? '').accepts);
      expect(heard.text + JSON.stringify(v2)).not.toContain('somebody-elses-key');
    },
  );

  it.each([1, 2] as const)('an x402 v%s client that sends an unknown key along pays all the same', async version => {
    const payer = await service.chain.newWallet();
    const headers = { Authorization: 'Bearer none' };
    const heard = await service.knock('POST', CHAT, { body: ask('Pays'), headers, by: payingFetch(payer, version) });
    expect(heard.status).toBe(200);
    expect(await service.transfersFrom(payer)).toHaveLength(1);
  });

  it('a key that is meant for others is none of ours: the router key, a pilot waiver, a key by Basic', async () => {
    const others: Record<string, string>[] = [
      { 'X-Router-Key': 'sk-caller' },
      { 'X-API-Key': 'a-waiver-key' },
      { Authorization: 'Basic a-live-key' },
    ];
    for (const headers of others) expect((await service.post(CHAT, ask(), headers)).body).not.toHaveProperty('code');
  });

  it('unknown_api_key on /graphql too, with the offer', async () => {
    const query = 'mutation { createChatCompletion(input: { messages: [{ role: "user", content: "Hi" }] }) { id } }';
    const heard = await service.post<{ errors: object[] }>('/graphql', { query }, { 'X-API-Key': 'somebody-elses' });
    expect(heard.status).toBe(402);
    expect(heard.body.errors).toMatchObject([
      { extensions: { code: 'unknown_api_key', x402: { code: 'unknown_api_key', accepts: expect.any(Array) } } },
    ]);
    expect(heard.headers.get('PAYMENT-REQUIRED')).not.toBeNull();
  });

  it('403 with a wrong session, before any work', async () => {
    const before = hubCalls();
    const wrong = { ...LIVE, 'X-SVC-Session': 'svcs_wrong' };
    expect(await service.post(CHAT, ask(), wrong)).toMatchObject({ status: 403, text: '' });
    expect((await listen(service, askToStream('x'), { headers: wrong })).status).toBe(403);
    expect(hubCalls()).toBe(before);
  });

  it('400 with a payment that cannot be read: it is not passed over for the key', async () => {
    expect(await service.post(CHAT, ask(), { ...LIVE, 'PAYMENT-SIGNATURE': '???' })).toMatchObject({
      status: 400,
      body: { code: 'invalid_payment' },
    });
  });

  it('200 with a payment beside it: that is charged, and the key only noted by its hash', async () => {
    const payer = await service.chain.newWallet();
    const payment = await service.payment(payer, CHAT);
    const { status, body } = await service.post<Chat>(CHAT, ask('Both'), { ...payment, ...LIVE });
    expect(status).toBe(200);
    expect(body.svc).toMatchObject({
      payment_ref: expect.stringMatching(/^base:0x/),
      settled_by: 'observed_transfer',
      caller_binding: { payer_wallet: payer.address, api_key_hash: HASH },
    });
    expect(body.svc).not.toHaveProperty('waived_by');
    expect(await service.transfersFrom(payer)).toHaveLength(1);
    expect(verifyReceipt(body.svc, await service.jwks())).toMatchObject({ kind: 'valid' });
  });
});

describe('npm run verify', () => {
  it('finds the receipt of a call by key good, and says plainly that nothing was paid', async () => {
    const { body } = await service.post<Chat>(CHAT, ask(), LIVE);
    const { PATH, HOME } = process.env;
    const { stdout } = await promisify(execFile)('npm', ['run', '-s', 'verify', '--', body.svc.verify_url], {
      env: { PATH, HOME },
    });
    expect(stdout).toContain(`Valid: task ${body.svc.task_id}`);
    expect(stdout).toContain('Nothing was paid: an API key was used (not spend).');
    expect(stdout).not.toContain('does not prove that the money moved');
  });
});

describe('registration', () => {
  it('402 with a live key: it proves no wallet', async () => {
    const account = await service.chain.newWallet();
    expect((await service.post(REGISTER, await registrationOf(account), LIVE)).status).toBe(402);
  });

  it('403 by the receipt of a call by key: nobody paid for it', async () => {
    const account = await service.chain.newWallet();
    const { body } = await service.post<Chat>(CHAT, ask(), LIVE);
    const heard = await service.post(REGISTER, await registrationOf(account, { task_id: body.svc.task_id }));
    expect(heard).toMatchObject({ status: 403, body: { code: 'receipt_not_qualifying' } });
  });
});

describe('what is counted', () => {
  it('a call by key is no paid call: not in the claims, and waived in the metrics', async () => {
    const before = await claims();
    await service.post(CHAT, ask(), LIVE);
    await service.knock('POST', CHAT, { body: ask('Paid'), by: payingFetch(await service.chain.newWallet()) });
    expect(await claims()).toBe(Number(before) + 1);
    const metrics = await (await fetch(`${service.url}/metrics`)).text();
    const counted = (outcome: string) =>
      Number(metrics.match(new RegExp(`^svc_paid_calls_total\\{[^}]*outcome="${outcome}"[^}]*\\} (\\d+)`, 'm'))?.[1]);
    expect(counted('waived')).toBeGreaterThan(0);
    expect(counted('settled')).toBeGreaterThan(0);
  });
});
