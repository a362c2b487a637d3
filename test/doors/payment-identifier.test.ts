import { decodePaymentRequiredHeader, decodePaymentResponseHeader } from '@x402/core/http';
import { isPaymentIdentifierExtension, isPaymentIdentifierRequired } from '@x402/extensions/payment-identifier';
import { beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { registrationOf, type Wallet } from '../harness/buyer.ts';
import { askToStream, listen } from '../harness/doors/listen.ts';
import { encodeBase64, makePayment } from '../harness/doors/make-payment.ts';
import {
  ask,
  CHAT,
  type Chat,
  PRICE,
  REGISTER,
  resetHubsBeforeEach,
  type Service,
  sharedService,
} from '../harness/doors/open-service.ts';
import { identifiedPayment, identifierFetch, newIdentifier } from '../harness/doors/payment-identifiers.ts';
import { openWallets } from '../harness/wallets.ts';

let service: Service;
beforeAll(async () => {
  service = await sharedService();
});
resetHubsBeforeEach(() => service);

const status = (heard: { headers: Headers }) => heard.headers.get('x-svc-settlement-status');
const jws = (heard: { body: Chat }) => heard.body.svc.issuer_signature.jws;
const extensionsOf = (heard: { headers: Headers }) =>
  decodePaymentRequiredHeader(heard.headers.get('PAYMENT-REQUIRED') ?? '').extensions ?? {};

/** Buys a chat under that payment identifier, each time with a new authorization. */
async function buy(account: Wallet, name: string, content: string, headers: Record<string, string> = {}) {
  const payment = await identifiedPayment(service, account, name);
  return service.post<Chat>(CHAT, ask(content), { ...payment.headers, ...headers });
}

/** Headers of a new payment with an Idempotency-Key. */
async function keyed(by: typeof service, account: Wallet, name: string) {
  const { headers } = await makePayment(by, account);
  return { headers: { ...headers, 'Idempotency-Key': name } };
}

describe('a 402', () => {
  it('of a chat declares payment-identifier as the official package has it, and asks for none', async () => {
    const declared = extensionsOf(await service.knock('POST', CHAT))['payment-identifier'];
    expect(isPaymentIdentifierExtension(declared)).toBe(true);
    expect(isPaymentIdentifierRequired(declared)).toBe(false);
  });

  it('of a registration does not: its effect stands once as it is', async () => {
    expect(extensionsOf(await service.knock('POST', REGISTER))).not.toHaveProperty('payment-identifier');
  });
});

describe('POST /v1/chat/completions under the identifier of an earlier purchase', () => {
  it('200 idempotent_replay by the official client: another authorization, which is neither claimed nor sent', async () => {
    const payer = await service.chain.newWallet();
    const by = identifierFetch(payer, newIdentifier());
    const [first, again] = [
      await service.knock<Chat>('POST', CHAT, { body: ask('Named'), by }),
      await service.knock<Chat>('POST', CHAT, { body: ask('Named'), by }),
    ];
    expect([first.status, again.status]).toEqual([200, 200]);
    expect([status(first), status(again)]).toEqual(['settled', 'idempotent_replay']);
    expect(jws(again)).toBe(jws(first));
    expect(again.headers.get('PAYMENT-RESPONSE')).toBe(first.headers.get('PAYMENT-RESPONSE'));
    expect(await service.claimsOf(payer)).toHaveLength(1);
    expect(await service.transfersFrom(payer)).toHaveLength(1);
  });

  it('200 idempotent_replay to a payer who has nothing left', async () => {
    const payer = await service.chain.newWallet(PRICE);
    const name = newIdentifier();
    const first = await buy(payer, name, 'All he had');
    expect(jws(await buy(payer, name, 'All he had'))).toBe(jws(first));
    expect(await service.transfersFrom(payer)).toHaveLength(1);
  });

  it('200 by that authorization for something else: it stayed unused', async () => {
    const payer = await service.chain.newWallet();
    const name = newIdentifier();
    await buy(payer, name, 'First');
    const second = await identifiedPayment(service, payer, name);
    expect(status(await service.post(CHAT, ask('First'), second.headers))).toBe('idempotent_replay');
    const nameless = encodeBase64({ ...decoded(second.headers), extensions: {} });
    expect(status(await service.post(CHAT, ask('Other'), { 'PAYMENT-SIGNATURE': nameless }))).toBe('settled');
    expect(await service.transfersFrom(payer)).toHaveLength(2);
  });

  it('409 payment_identifier_conflict for another request, not charged', async () => {
    const payer = await service.chain.newWallet();
    const name = newIdentifier();
    await buy(payer, name, 'One');
    const heard = await buy(payer, name, 'Another');
    expect(heard).toMatchObject({ status: 409, body: { code: 'payment_identifier_conflict', charged: false } });
    expect(await service.claimsOf(payer)).toHaveLength(1);
    expect(await service.transfersFrom(payer)).toHaveLength(1);
  });

  it.each([
    ['payment identifier', identifiedPayment],
    ['Idempotency-Key', keyed],
  ])(
    '409 payment_in_flight while the first is worked for, to come again under the same %s; 200 once it is bought',
    async (by, pay) => {
      const payer = await service.chain.newWallet(PRICE);
      const name = newIdentifier();
      const before = service.gates.alpha.held();
      service.gates.alpha.hold();
      const chat = { ...ask('Slow'), model: 'alpha-1' };
      const first = service.post<Chat>(CHAT, chat, (await pay(service, payer, name)).headers);
      await expect.poll(service.gates.alpha.held).toBe(before + 1);
      const early = await service.post(CHAT, chat, (await pay(service, payer, name)).headers);
      const detail = expect.stringContaining(`Send the same request with the same ${by} again.`);
      expect(early).toMatchObject({ status: 409, body: { code: 'payment_in_flight', detail } });
      expect(Number(early.headers.get('Retry-After'))).toBeGreaterThan(0);
      service.gates.alpha.open();
      const bought = await first;
      const late = await service.post<Chat>(CHAT, chat, (await pay(service, payer, name)).headers);
      expect([status(bought), status(late), jws(late)]).toEqual(['settled', 'idempotent_replay', jws(bought)]);
      expect(await service.transfersFrom(payer)).toHaveLength(1);
    },
  );

  it('200 settled where the first was let go of: the hub had failed', async () => {
    const payer = await service.chain.newWallet();
    const name = newIdentifier();
    for (const hub of service.hubs) hub.behave({ kind: 'status', status: 500 });
    expect(await buy(payer, name, 'Failed')).toMatchObject({ status: 502, body: { charged: false } });
    for (const hub of service.hubs) hub.behave({ kind: 'answer' });
    expect(status(await buy(payer, name, 'Failed'))).toBe('settled');
    expect(status(await buy(payer, name, 'Failed'))).toBe('idempotent_replay');
    expect(await service.transfersFrom(payer)).toHaveLength(1);
  });

  it('410 answer_gone once the answer is kept no longer: it is not charged again', async () => {
    const payer = await service.chain.newWallet();
    const name = newIdentifier();
    const { svc } = (await buy(payer, name, 'Long ago')).body;
    const forget = `update payment_claim set answer_box = null, request_box = '' where task_id = $1`;
    await service.query(forget, [svc.task_id]);
    expect(await buy(payer, name, 'Long ago')).toMatchObject({ status: 410, body: { verify_url: svc.verify_url } });
    expect(await service.transfersFrom(payer)).toHaveLength(1);
  });

  it('200 idempotent_replay of a stream: the same text, one transfer', async () => {
    const payer = await service.chain.newWallet();
    const by = identifierFetch(payer, newIdentifier());
    const first = await listen(service, askToStream('Spoken'), { by });
    const said = await first.rest();
    const again = await listen(service, askToStream('Spoken'), { by });
    expect([status(first), status(again)]).toEqual(['settled', 'idempotent_replay']);
    expect((await again.rest()).text).toBe(said.text);
    expect(await service.transfersFrom(payer)).toHaveLength(1);
  });
});

describe('POST /v1/chat/completions under the identifier of somebody else', () => {
  it('200 settled: to another payer the name is another purchase', async () => {
    const [one, other] = [await service.chain.newWallet(), await service.chain.newWallet()];
    const name = newIdentifier();
    const bought = [await buy(one, name, 'Mine'), await buy(other, name, 'Mine')];
    expect(bought.map(status)).toEqual(['settled', 'settled']);
    expect(jws(bought[1] as (typeof bought)[0])).not.toBe(jws(bought[0] as (typeof bought)[0]));
  });

  it('403 without the session under which it was bought, and 200 with it', async () => {
    const { account, session } = await service.newAgent();
    const name = newIdentifier();
    const first = await buy(account, name, 'Private', { 'X-SVC-Session': session });
    expect(await buy(account, name, 'Private')).toMatchObject({ status: 403, text: '' });
    expect(jws(await buy(account, name, 'Private', { 'X-SVC-Session': session }))).toBe(jws(first));
    expect(await service.transfersFrom(account)).toHaveLength(2);
  });

  it("402 to who only says that he is that contract wallet, and 200 to the wallet's own word", async () => {
    const wallets = openWallets(service.chain);
    const wallet = await wallets.tagged();
    const name = newIdentifier();
    const first = await buy(wallet, name, 'By contract');
    const forged = await identifiedPayment(service, wallet, name, { signature: () => `0x01${'11'.repeat(65)}` });
    const heard = await service.post<JsonObject>(CHAT, ask('By contract'), forged.headers);
    expect(heard).toMatchObject({ status: 402, body: { error: 'invalid_exact_evm_payload_signature' } });
    expect(jws(await buy(wallet, name, 'By contract'))).toBe(jws(first));
    expect(await service.transfersFrom(wallet)).toHaveLength(1);
  });
});

describe('an identifier', () => {
  it.each([
    ['too short', 'short'],
    ['of other characters', 'a name with spaces'],
  ])('%s: 400 invalid_payment, and nothing is claimed', async (_, name) => {
    const payer = await service.chain.newWallet();
    expect(await buy(payer, name, 'Bad')).toMatchObject({ status: 400, body: { code: 'invalid_payment' } });
    expect(await service.claimsOf(payer)).toEqual([]);
  });

  it('is nothing to POST /v1/agents/register: 200, and 409 to the second payment of that wallet', async () => {
    const payer = await service.chain.newWallet();
    const name = newIdentifier();
    const register = async () =>
      service.post(REGISTER, await registrationOf(payer), (await identifiedPayment(service, payer, name)).headers);
    expect((await register()).status).toBe(200);
    expect(await register()).toMatchObject({ status: 409, body: { code: 'wallet_registered' } });
    expect(status(await buy(payer, name, 'Not that purchase'))).toBe('settled');
  });

  it('is no part of v1: 200 settled twice', async () => {
    const payer = await service.chain.newWallet();
    const extensions = { 'payment-identifier': { info: { required: false, id: newIdentifier() } } };
    for (const _ of [1, 2]) {
      const { headers } = await makePayment(service, payer, { version: 1, envelope: { extensions } });
      const heard = await service.post(CHAT, ask('v1'), headers);
      expect(status(heard)).toBe('settled');
      const told = decodePaymentResponseHeader(heard.headers.get('X-PAYMENT-RESPONSE') ?? '');
      expect(told).not.toHaveProperty('extensions');
    }
    expect(await service.transfersFrom(payer)).toHaveLength(2);
  });
});

function decoded(headers: Readonly<Record<string, string>>): JsonObject {
  return JSON.parse(Buffer.from(headers['PAYMENT-SIGNATURE'] ?? '', 'base64').toString()) as JsonObject;
}
