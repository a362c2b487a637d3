import { beforeAll, describe, expect, it } from 'vitest';
import { limits } from '../../schema/limits.ts';
import { nowSeconds, registrationOf } from '../harness/buyer.ts';
import { askToStream } from '../harness/doors/listen.ts';
import { makePayment } from '../harness/doors/make-payment.ts';
import { ask, CHAT, REGISTER, type Service, sharedService } from '../harness/doors/open-service.ts';

let service: Service;
beforeAll(async () => {
  service = await sharedService();
});

const validFor = (seconds: number) => ({ signed: { validBefore: BigInt(nowSeconds() + seconds) } });
const { payment_validity_seconds_min: to_settle, payment_validity_with_work_seconds_min: to_work } = limits;

describe('a payment that is valid for too short a time', () => {
  it.each([
    ['in one piece', ask('Short')],
    ['in a stream', askToStream('Short')],
  ])('402 where there is work to do first (%s): nothing is claimed, the hub is not asked', async (_, body) => {
    const payer = await service.chain.newWallet();
    const before = service.hubs[0].requests.length;
    const { headers } = await makePayment(service, payer, validFor(to_work - 1));
    const refused = await service.post(CHAT, body, headers);
    expect(refused).toMatchObject({
      status: 402,
      body: { error: 'invalid_exact_evm_payload_authorization_valid_before' },
    });
    expect(await service.claimsOf(payer)).toEqual([]);
    expect(service.hubs[0].requests).toHaveLength(before);
  });

  it('is long enough where there is none', async () => {
    const payer = await service.chain.newWallet();
    const body = await registrationOf(payer);
    const { headers } = await makePayment(service, payer, validFor(to_settle + 2));
    expect(to_settle + 2).toBeLessThan(to_work);
    expect(await service.post(REGISTER, body, headers)).toMatchObject({ status: 200 });
  });
});

describe('work that would outlive its payment', () => {
  it.each([
    ['in one piece', ask('Long', { model: 'beta-1' })],
    ['in a stream', askToStream('Long', { model: 'beta-1' })],
  ])('502 (%s) while there is still time to settle: released, nothing charged', async (_, body) => {
    const payer = await service.chain.newWallet();
    const { headers } = await makePayment(service, payer, validFor(to_work + 1));
    service.hubs[1].behave({ kind: 'hang' });
    const failed = await service.post(CHAT, body, headers);
    expect(failed).toMatchObject({
      status: 502,
      body: { code: 'hub_failed', charged: false, attempts: [{ hub: 'beta', reason: 'timeout' }] },
    });
    expect(await service.claimsOf(payer)).toEqual([{ state: 'released', reason: 'hub_failed' }]);
    expect(await service.transfersFrom(payer)).toEqual([]);
  });
});
