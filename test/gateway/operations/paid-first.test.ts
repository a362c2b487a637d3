import { beforeAll, expect, it } from 'vitest';
import { newBuyer } from '../../harness/faults/buyer.ts';
import { eventually, type Ground, openGround } from '../../harness/faults/ground.ts';
import { parseExposition } from '../../harness/operations/exposition.ts';
import { holdHub, startCall } from '../../harness/operations/in-flight-calls.ts';
import type { RunningService } from '../../harness/worker-gateway.ts';

const CHAT = '/v1/chat/completions';

let ground: Ground;
let gateway: RunningService;
beforeAll(async () => {
  ground = await openGround();
  gateway = await ground.start();
});

/** Calls that go before other requests now. */
async function callsFirst(): Promise<number | undefined> {
  const { samples } = parseExposition(await (await fetch(`${gateway.url}/metrics`)).text());
  return samples.get('svc_paid_calls_first');
}

const first = (count: number) => eventually(`${count} first`, async () => (await callsFirst()) === count || null);

const body = JSON.stringify({ model: 'test/model', messages: [{ role: 'user', content: 'by key' }] });
const asJson = { 'content-type': 'application/json' };

async function unpaid(): Promise<number> {
  const answer = await fetch(gateway.url + CHAT, { method: 'POST', headers: asJson, body });
  await answer.text();
  return answer.status;
}

async function read(path: string): Promise<number> {
  const answer = await fetch(gateway.url + path);
  await answer.text();
  return answer.status;
}

it.each([
  ['a paid call', async () => (await newBuyer(ground)).chat('whole')],
  ['a paid stream', async () => (await newBuyer(ground)).stream('in a stream')],
] as const)('%s goes first until it is recorded, and every free request beside it is answered', async (_, order) => {
  await first(0);
  const release = holdHub(ground);
  const { answer } = await startCall(ground, gateway, await order());
  await first(1);
  const free = Array.from({ length: 60 }, () => [unpaid(), read('/v1/models'), read('/openapi.json')]);
  const statuses = await Promise.all(free.flat());
  expect(new Set(statuses)).toEqual(new Set([402, 200]));
  expect(await callsFirst()).toBe(1);
  release();
  expect((await answer)?.status).toBe(200);
  await first(0);
});

it('a call by key goes first, and no longer once its hub has failed', async () => {
  await first(0);
  const held = Promise.withResolvers<void>();
  ground.hub.behave({ kind: 'answer', until: held.promise });
  const headers = { ...asJson, authorization: 'Bearer a-live-key' };
  const answer = fetch(gateway.url + CHAT, { method: 'POST', headers, body });
  await first(1);
  ground.hub.behave({ kind: 'status', status: 500 });
  const failing = await fetch(gateway.url + CHAT, { method: 'POST', headers, body });
  expect(failing.status).toBe(502);
  await first(1);
  ground.hub.behave({ kind: 'answer' });
  held.resolve();
  expect((await answer).status).toBe(200);
  await first(0);
});

it('neither an unpaid call nor a wrong payment goes first', async () => {
  expect(await unpaid()).toBe(402);
  const headers = { ...asJson, 'payment-signature': 'bm8gcGF5bWVudA==' };
  expect((await fetch(gateway.url + CHAT, { method: 'POST', headers, body })).status).toBe(400);
  expect(await callsFirst()).toBe(0);
});
