import { beforeAll, describe, expect, it } from 'vitest';
import { askToStream, listen } from '../harness/doors/listen.ts';
import { makePayment, submitElsewhere } from '../harness/doors/make-payment.ts';
import { CHAT, type Service, sharedService } from '../harness/doors/open-service.ts';

let service: Service;
beforeAll(async () => {
  service = await sharedService();
});

describe('a stream whose payment somebody else has submitted first', () => {
  it('200, streamed, with a receipt of that very transfer, and no other transfer', async () => {
    const payer = await service.chain.newWallet();
    const made = await makePayment(service, payer);
    const transaction = await submitElsewhere(service, made);
    const stream = await listen(service, askToStream('Mine all the same'), { headers: made.headers });
    expect(stream.status).toBe(200);
    const { svc, ends_well, finish_reasons } = await stream.rest();
    expect({ ends_well, finish_reasons }).toEqual({ ends_well: true, finish_reasons: ['stop'] });
    expect(svc).toMatchObject({ payment_ref: `base:${transaction}`, settlement_status: 'settled' });
    expect(await service.transfersFrom(payer)).toHaveLength(1);
  });

  it('is owed where the hub fails: never told that nothing was charged, and streamed when it is asked for again', async () => {
    const payer = await service.chain.newWallet();
    const made = await makePayment(service, payer);
    const transaction = await submitElsewhere(service, made);
    for (const hub of service.hubs) hub.behave({ kind: 'status', status: 500 });
    const body = askToStream('Later, then');
    const failed = await service.post<{ charged?: boolean; detail: string }>(CHAT, body, made.headers);
    expect(failed.status).toBeGreaterThanOrEqual(500);
    expect(failed.body.charged).not.toBe(false);
    expect(failed.body.detail).not.toMatch(/nothing was charged/i);

    for (const hub of service.hubs) hub.behave({ kind: 'answer' });
    await expect
      .poll(
        async () => {
          const stream = await listen(service, body, { headers: made.headers });
          return stream.status === 200 ? stream.rest() : stream.status;
        },
        { interval: 200 },
      )
      .toMatchObject({ ends_well: true, finish_reasons: ['stop'], svc: { payment_ref: `base:${transaction}` } });
    expect(await service.transfersFrom(payer)).toHaveLength(1);
  });
});
