import type { ServerResponse } from 'node:http';
import { beforeAll, expect, it } from 'vitest';
import { ask, CHAT, type Chat, openService, type Service } from '../harness/doors/open-service.ts';
import {
  answerWith,
  completion,
  type HubServer,
  hubFailures,
  openHubServer,
} from '../harness/receipt/inference/hub-server.ts';
import { atEnd } from '../harness/release.ts';

/** Behaviour of each hub during the whole test. */
const behaviours = {
  hanging: () => {},
  flooding: failureBy('too_large'),
  broken: failureBy('not_json'),
  healthy: answerWith(completion),
} as const satisfies Record<string, (response: ServerResponse) => void>;
type Name = keyof typeof behaviours;
const names = Object.keys(behaviours) as Name[];

function failureBy(reason: string): (response: ServerResponse) => void {
  const [, behave] = hubFailures.find(([name]) => name === reason) ?? [];
  if (!behave) throw new Error(`no hub fails by ${reason}`);
  return behave;
}

let hubs: Record<Name, HubServer>;
let service: Service;

beforeAll(async () => {
  const opened = await Promise.all(names.map(async name => [name, await openHubServer(behaviours[name])] as const));
  hubs = Object.fromEntries(opened) as Record<Name, HubServer>;
  for (const hub of Object.values(hubs)) atEnd(() => hub[Symbol.asyncDispose]());
  const settings = names.map(name => ({
    name,
    base_url: hubs[name].base_url,
    api_key: `key-of-${name}`,
    models: [`${name}-1`],
  }));
  service = await openService({ HUBS: JSON.stringify(settings) });
});

/** Makes that many paid calls to one hub's model. `pending` returns how many are not answered yet. */
async function callsTo(name: Name, count: number) {
  const payer = await service.chain.newWallet();
  const payments = await Promise.all(Array.from({ length: count }, () => service.payment(payer, CHAT)));
  let pending = count;
  const answers = payments.map(async (payment, index) => {
    const answer = await service.post<Chat>(CHAT, ask(`${name} ${index}`, { model: `${name}-1` }), payment);
    pending -= 1;
    return answer;
  });
  return { payer, count, answers: Promise.all(answers), pending: () => pending };
}

it('hubs that hang, pour out 100 MB or answer broken JSON slow nobody else', async () => {
  const hung = await callsTo('hanging', 40);
  await expect.poll(() => hubs.hanging.received.length).toBe(hung.count);

  const [flooded, garbled, served] = await Promise.all([
    callsTo('flooding', 20),
    callsTo('broken', 20),
    callsTo('healthy', 40),
  ]);
  for (const { status } of await served.answers) expect(status).toBe(200);
  for (const failing of [flooded, garbled]) {
    for (const answer of await failing.answers)
      expect(answer).toMatchObject({ status: 502, body: { code: 'hub_failed', charged: false } });
    expect(await service.transfersFrom(failing.payer)).toEqual([]);
  }
  expect(await service.transfersFrom(served.payer)).toHaveLength(served.count);
  expect((await service.newAgent()).agent_id).toEqual(expect.any(Number));
  expect((await service.get('/health')).body).toMatchObject({ status: 'ok' });
  // All of this happened while every call to the hanging hub was in progress.
  expect(hung.pending()).toBe(hung.count);

  await hubs.hanging[Symbol.asyncDispose]();
  for (const answer of await hung.answers)
    expect(answer).toMatchObject({ status: 502, body: { code: 'hub_failed', charged: false } });
  expect(await service.transfersFrom(hung.payer)).toEqual([]);
});
