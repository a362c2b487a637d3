import { beforeAll, describe, expect, it } from 'vitest';
import type { z } from 'zod';
import type { SettlementNoun } from '../../schema/settlement.ts';
import type { Wallet } from '../harness/buyer.ts';
import { makePayment, submitElsewhere } from '../harness/doors/make-payment.ts';
import {
  ask,
  CHAT,
  type Chat,
  resetHubsBeforeEach,
  type Service,
  sharedService,
} from '../harness/doors/open-service.ts';
import { identifiedPayment, newIdentifier } from '../harness/doors/payment-identifiers.ts';
import { policyDoorsOf } from '../harness/doors/policies.ts';

type Stands = z.infer<typeof SettlementNoun>;

let service: Service;
beforeAll(async () => {
  service = await sharedService();
});
resetHubsBeforeEach(() => service);

const of = (id: string, query = '') => service.get<Stands>(`/v1/settlements/${id}${query}`);
const stateOf = async (id: string) => (await of(id)).body.state;

/** A paid chat, with the names by which its payment can be looked up. */
async function bought(account: Wallet, content = 'Settled', name = newIdentifier()) {
  const { headers, message } = await identifiedPayment(service, account, name);
  const heard = await service.post<Chat>(CHAT, ask(content), headers);
  return { name, nonce: message.nonce, headers, heard, svc: heard.body.svc };
}

describe('GET /v1/settlements/{payment_id}', () => {
  it('200 settled by nonce in any case, and by identifier: what is public of it, and nothing else', async () => {
    const { name, nonce, svc } = await bought(await service.chain.newWallet());
    const stands = {
      payment_id: nonce,
      state: 'settled',
      task_id: svc.task_id,
      network: 'base',
      payment_ref: svc.payment_ref,
      verify_url: svc.verify_url,
      charged: true,
      retry_after_seconds: null,
    };
    const heard = await of(nonce);
    expect([heard.status, heard.body, heard.headers.get('Retry-After')]).toEqual([200, stands, null]);
    expect((await of(`0x${nonce.slice(2).toUpperCase()}`)).body).toEqual(stands);
    expect((await of(name)).body).toEqual({ ...stands, payment_id: name });
  });

  it('200 claimed while the hub thinks, with Retry-After', async () => {
    const before = service.gates.alpha.held();
    service.gates.alpha.hold();
    const { headers, message } = await makePayment(service, await service.chain.newWallet());
    const first = service.post(CHAT, { ...ask('Think'), model: 'alpha-1' }, headers);
    await expect.poll(service.gates.alpha.held).toBe(before + 1);
    const { body, headers: told } = await of(message.nonce);
    expect(body).toMatchObject({ state: 'claimed', charged: null, payment_ref: null, retry_after_seconds: 1 });
    expect(body.verify_url).toBe(`${service.url}/receipt/${body.task_id}`);
    expect(told.get('Retry-After')).toBe('1');
    service.gates.alpha.open();
    expect((await first).status).toBe(200);
    expect(await stateOf(message.nonce)).toBe('settled');
  });

  it('200 pending once it may have moved, with Retry-After; settled with its block', async () => {
    const { headers, message } = await makePayment(service, await service.chain.newWallet());
    await service.chain.setAutomine(false);
    const first = service.post(CHAT, ask('In the pool'), headers);
    try {
      await expect.poll(() => stateOf(message.nonce)).toBe('pending');
      const { body, headers: told } = await of(message.nonce);
      expect(body).toMatchObject({ charged: null, payment_ref: null, retry_after_seconds: 2 });
      expect(told.get('Retry-After')).toBe('2');
    } finally {
      await service.chain.setAutomine(true);
      await service.chain.mine();
    }
    expect((await first).status).toBe(200);
    expect(await stateOf(message.nonce)).toBe('settled');
  });

  it('200 released where no hub answered: not charged, and still usable', async () => {
    const payer = await service.chain.newWallet();
    for (const hub of service.hubs) hub.behave({ kind: 'status', status: 500 });
    const { name, nonce, headers } = await bought(payer, 'Nobody');
    for (const hub of service.hubs) hub.behave({ kind: 'answer' });
    const stands = {
      state: 'released',
      charged: false,
      payment_ref: null,
      verify_url: null,
      retry_after_seconds: null,
    };
    expect((await of(nonce)).body).toMatchObject(stands);
    expect((await of(name)).body).toMatchObject(stands);
    expect((await service.post(CHAT, ask('Nobody'), headers)).status).toBe(200);
    expect([await stateOf(nonce), await stateOf(name)]).toEqual(['settled', 'settled']);
  });

  it('200 released where the book refused it: what it knows stays with the book', async () => {
    const { account } = await policyDoorsOf(service).newBlockedAgent();
    const { nonce, heard } = await bought(account, 'Refused');
    expect(heard.status).toBe(403);
    expect((await of(nonce)).body).toMatchObject({ state: 'released', charged: false, verify_url: null });
  });

  it('200 failed where its nonce went into another payment', async () => {
    const payer = await service.chain.newWallet();
    const made = await makePayment(service, payer);
    const { nonce } = made.message;
    await submitElsewhere(service, await makePayment(service, payer, { signed: { nonce, to: payer.address } }));
    expect((await service.post(CHAT, ask(), made.headers)).status).toBe(402);
    expect((await of(nonce)).body).toMatchObject({ state: 'failed', charged: false });
  });

  it('400 where several payers call theirs the same, until one is named by ?payer=', async () => {
    const [one, other] = [await service.chain.newWallet(), await service.chain.newWallet()];
    const name = newIdentifier();
    const [mine, his] = [await bought(one, 'Mine', name), await bought(other, 'His', name)];
    expect(await of(name)).toMatchObject({ status: 400, body: { code: 'invalid_request', error: { param: 'payer' } } });
    const task_of = async (payer: string) => (await of(name, `?payer=${payer}`)).body.task_id;
    expect(await task_of(one.address.toLowerCase())).toBe(mine.svc.task_id);
    expect(await task_of(other.address)).toBe(his.svc.task_id);
    expect((await of(name, `?payer=${service.pay_to}`)).status).toBe(404);
  });

  it('200 by nonce, also where a stranger calls a purchase of his the same', async () => {
    const { nonce, svc } = await bought(await service.chain.newWallet(), 'Mine');
    const his = await bought(await service.chain.newWallet(), 'His', nonce);
    expect(his.heard.status).toBe(200);
    expect((await of(nonce)).body).toMatchObject({ state: 'settled', task_id: svc.task_id });
  });

  it.each([
    ['a nonce', `0x${'0'.repeat(64)}`],
    ['a message hash', 'f'.repeat(64)],
    ['an identifier', newIdentifier()],
  ])('404 to %s that nobody has shown', async (_, id) => {
    expect(await of(id)).toMatchObject({ status: 404, body: { code: 'not_found' } });
  });

  it.each([
    ['too short', '0x12'],
    ['too long', 'a'.repeat(129)],
    ['of other characters', `${'a'.repeat(16)}%20b`],
  ])('400 to an id that is %s', async (_, id) => {
    const heard = await of(id);
    expect(heard).toMatchObject({ status: 400, body: { code: 'invalid_request', error: { param: 'payment_id' } } });
  });

  it('400 to a payer that is no address', async () => {
    expect(await of(newIdentifier(), '?payer=me')).toMatchObject({ status: 400, body: { error: { param: 'payer' } } });
  });

  it('never 402, whatever came along', async () => {
    const { headers } = await makePayment(service, await service.chain.newWallet());
    expect((await service.get(`/v1/settlements/${newIdentifier()}`, headers)).status).toBe(404);
  });
});
