import { beforeAll, expect, it } from 'vitest';
import { ask, CHAT, type Service, sharedService } from '../harness/doors/open-service.ts';

/*
 * A REST endpoint with one content type answers in it for any Accept header, so that the client can read the price and receives what it
 * bought.
 */

let service: Service;
beforeAll(async () => {
  service = await sharedService();
});

const odd = ['application/xml', 'text/event-stream', 'application/json;q=0', 'nonsense'];

it.each(odd)('unpaid, with Accept: %s, it says its price', async accept => {
  const { status, headers } = await service.knock('POST', CHAT, { headers: { accept }, body: ask('Hi') });
  expect([status, headers.get('content-type')]).toEqual([402, 'application/json; charset=utf-8']);
});

it.each(odd)('paid, with Accept: %s, it is the answer that was bought', async accept => {
  const { account } = await service.newAgent();
  const { status, body } = await service.buy(account, ask('Hi'), { accept });
  expect([status, body.object]).toEqual([200, 'chat.completion']);
});
