import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ask, CHAT, openService, type Service } from '../harness/doors/open-service.ts';
import type { HubBehaviour } from '../harness/hub.ts';

let service: Service;
beforeAll(async () => {
  service = await openService({}, { media: true });
});
function both(behaviour: HubBehaviour): void {
  for (const hub of service.hubs) hub.behave(behaviour);
}
const bothAnswer = () => both({ kind: 'answer' });
const bothFail = () => both({ kind: 'status', status: 500 });
beforeEach(bothAnswer);

const hubCalls = () => service.hubs.reduce((sum, { requests }) => sum + requests.length, 0);
const ONE = { svc: { failover: false } };

/** Every endpoint whose answer comes from a hub, with a body for it. The last one is a stream. */
const doors: readonly (readonly [path: string, body: object])[] = [
  [CHAT, ask()],
  ['/a2a-message', ask()],
  ['/v1/responses', { input: 'Hello' }],
  ['/v1/images/generations', { prompt: 'Hello' }],
  ['/v1/embeddings', { input: 'Hello' }],
  [CHAT, ask('Streamed', { stream: true })],
];

describe.each(doors)('POST %s %j', (path, body) => {
  it('502 by the one hub that was asked, where svc.failover is false; not charged, and it pays later', async () => {
    const payer = await service.chain.newWallet();
    const payment = await service.payment(payer, path);
    bothFail();
    const before = hubCalls();
    const failed = await service.post<{ attempts: unknown[] }>(path, { ...body, ...ONE }, payment);
    expect(failed).toMatchObject({ status: 502, body: { code: 'hub_failed', charged: false } });
    expect([failed.body.attempts.length, hubCalls() - before]).toEqual([1, 1]);
    expect(await service.claimsOf(payer)).toEqual([{ state: 'released', reason: 'hub_failed' }]);
    bothAnswer();
    const answer = await fetch(service.url + path, {
      method: 'POST',
      headers: { ...payment, 'content-type': 'application/json' },
      body: JSON.stringify({ ...body, ...ONE }),
    });
    expect([answer.status, await answer.text().then(text => text.includes('task_'))]).toEqual([200, true]);
    expect(await service.transfersFrom(payer)).toHaveLength(1);
  });

  it('502 by both, one after the other, where nothing is said of it', async () => {
    bothFail();
    const before = hubCalls();
    const payment = await service.payment(await service.chain.newWallet(), path);
    const failed = await service.post<{ attempts: unknown[] }>(path, body, payment);
    expect([failed.status, failed.body.attempts.length, hubCalls() - before]).toEqual([502, 2, 2]);
  });
});

describe('who answered', () => {
  it('is told in the answer, the receipt and the headers, whoever was asked first', async () => {
    const { status, body, headers } = await service.buy(await service.chain.newWallet());
    expect(status).toBe(200);
    const { hub, model } = body.svc as unknown as { hub: string; model: string };
    expect([headers.get('x-svc-hub'), headers.get('x-svc-model'), body.model]).toEqual([hub, model, model]);
    expect(model).toBe(`${hub}-1`);
  });

  it('400 where svc.failover is no boolean, and the payment stays usable', async () => {
    const payment = await service.payment(await service.chain.newWallet(), CHAT);
    const wrong = await service.post(CHAT, ask('Hello', { svc: { failover: 'never' } }), payment);
    expect(wrong).toMatchObject({ status: 400, body: { error: { param: 'svc.failover' } } });
    expect((await service.post(CHAT, ask(), payment)).status).toBe(200);
  });
});

it('GET /metrics tells how each hub does, by names that no caller chose', async () => {
  const named = /^svc_hub_health\{hub="(alpha|beta)",modality="(text|image)"\} (\S+)$/gm;
  const health = async () => {
    const text = await (await fetch(`${service.url}/metrics`)).text();
    return new Map(
      Array.from(text.matchAll(named), ([, hub, modality, value]) => [`${hub} ${modality}`, Number(value)]),
    );
  };
  bothFail();
  for (let call = 0; call < 4; call++)
    await service.buy(await service.chain.newWallet(), ask(`Down ${call}`)).catch(() => {});
  const down = await health();
  expect([down.get('alpha text'), down.get('beta text')]).toEqual([0, 0]);
  expect(down.get('alpha image')).toBeGreaterThan(0);
  bothAnswer();
  expect((await service.buy(await service.chain.newWallet(), ask('Up again'))).status).toBe(200);
  expect(Math.max(...[...(await health()).values()])).toBeGreaterThan(0.7);
  const text = await (await fetch(`${service.url}/metrics`)).text();
  expect(text).toMatch(/^svc_hub_waiting\{hub="alpha"\} 0$/m);
  expect(text).toMatch(/^svc_hub_answer_seconds\{hub="(alpha|beta)",modality="text"\} 0?\.?\d/m);
});
