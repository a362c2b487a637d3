import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { openService, type Service } from '../harness/doors/open-service.ts';
import { otherPaidDoors } from '../harness/doors/other-paid-doors.ts';

/* The cases of chat-unavailable at every other endpoint that sells work. */

let service: Service;
beforeAll(async () => {
  const breaks_at = otherPaidDoors.flatMap(() => ['after_claim', '', 'after_work', '', 'before_record', '']);
  service = await openService({}, { breaks_at, meant: /the drawer is stuck/, media: true });
});
afterEach(() => service.gates.base.open());

describe.each(otherPaidDoors)('POST $path', ({ path, request }) => {
  const newPayment = async () => {
    const payer = await service.chain.newWallet();
    const payment = await service.payment(payer, path);
    return {
      send: () => service.post<JsonObject>(path, request(payer, 'Hello'), payment),
      claims: () => service.claimsOf(payer),
      paid: async () => (await service.transfersFrom(payer)).length,
    };
  };

  it.each(['after the claim', 'after the work'])(
    '500 where something broke %s: not charged, and the payment pays',
    async () => {
      const { send, claims, paid } = await newPayment();
      const broken = await send();
      expect(broken).toMatchObject({ status: 500, body: { code: 'internal' } });
      expect(broken.text).not.toContain('drawer');
      expect(await claims()).toEqual([{ state: 'released', reason: 'internal' }]);
      expect(await paid()).toBe(0);
      expect((await send()).status).toBe(200);
      expect(await paid()).toBe(1);
    },
  );

  it('503 settlement_pending where it broke once the money had moved; then its answer, and one transfer', async () => {
    const { send, paid } = await newPayment();
    const pending = await send();
    expect(pending).toMatchObject({ status: 503, body: { code: 'settlement_pending' } });
    expect(pending.text).not.toContain('drawer');
    expect(Number(pending.headers.get('Retry-After'))).toBeGreaterThan(0);
    await expect.poll(async () => (await send()).status).toBe(200);
    expect(await paid()).toBe(1);
  });

  it('503 chain_unavailable while the chain cannot be asked: nothing is claimed, and the payment pays later', async () => {
    const { send, claims, paid } = await newPayment();
    service.gates.base.cut();
    expect(await send()).toMatchObject({ status: 503, body: { code: 'chain_unavailable', charged: false } });
    expect(await claims()).toEqual([]);
    service.gates.base.open();
    await expect.poll(async () => (await send()).status).toBe(200);
    expect(await paid()).toBe(1);
  });
});
