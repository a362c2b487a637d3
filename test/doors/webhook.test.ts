import { beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { webhookLimits } from '../../schema/limits.ts';
import { type Service, sharedService } from '../harness/doors/open-service.ts';
import { webhookDoorsOf } from '../harness/doors/webhooks.ts';

type Agent = Awaited<ReturnType<Service['newAgent']>>;

/*
 * The service as an operator runs it, which accepts only https URLs with a public host name. It sends no message here, because no event
 * happens.
 */

let service: Service;
let agent: Agent;
let stranger: Agent;
beforeAll(async () => {
  service = await sharedService();
  [agent, stranger] = [await service.newAgent(), await service.newAgent()];
});

const { path, shown, put, read, remove, rotate, ping, redeliver, deadLetters } = webhookDoorsOf(() => service);
const URL_SET = 'https://hooks.invalid/in?key=k';
const usual = ['settle', 'inflow', 'policy_blocked', 'collected'];
const standing = {
  enabled: true,
  url_host: 'hooks.invalid',
  url_path: '/in?key=k',
  events: usual,
  has_secret: true,
  deliveries: 0,
  failures: 0,
  lastStatus: null,
  lastError: null,
};

describe('GET /v1/agents/{agent_id}/book/webhook', () => {
  it('200 with null where none is set', async () => {
    const { status, body } = await read(stranger);
    expect(status).toBe(200);
    expect(body).toEqual({ agent_id: stranger.agent_id, webhook: null, supported_events: usual });
  });

  it('200 with neither the secret nor the whole URL', async () => {
    const own = await service.newAgent();
    const { body: made } = await put(own, { url: URL_SET });
    const { body, text } = await read(own);
    expect(body).toEqual({ agent_id: own.agent_id, webhook: standing, supported_events: usual });
    expect(text).not.toContain('https://');
    expect(text).not.toContain(made.secret_once);
  });
});

describe.each(['PUT', 'POST'] as const)('%s /v1/agents/{agent_id}/book/webhook', method => {
  const set = (own: Agent, body: JsonObject, headers: Record<string, string> = shown(own)) =>
    service.knock<JsonObject & { secret_once?: string }>(method, path(own), { body, headers });

  it('200 with a secret that was made here, once', async () => {
    const own = await service.newAgent();
    const first = await set(own, { url: URL_SET });
    expect(first.status).toBe(200);
    expect(first.body).toEqual({
      agent_id: own.agent_id,
      webhook: standing,
      supported_events: usual,
      secret_once: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/),
    });
    const again = await set(own, { url: URL_SET });
    expect(again.body).toEqual({ agent_id: own.agent_id, webhook: standing, supported_events: usual });
  });

  it('200 by the session in the body, with a secret of the caller’s own, which is not told', async () => {
    const own = await service.newAgent();
    const secret = 'a secret of one’s own'.replace(/[^a-z]/g, '-').repeat(2);
    const body = { session: own.session, url: URL_SET, secret, events: ['alert', 'inflow', 'inflow'], enabled: false };
    const { status, body: answer, text } = await set(own, body, {});
    expect(status).toBe(200);
    expect(answer).toEqual({
      agent_id: own.agent_id,
      webhook: { ...standing, enabled: false, events: ['inflow', 'alert'] },
      supported_events: usual,
    });
    expect(text).not.toContain(secret);
  });

  it.each<[string, JsonObject, string]>([
    ['no URL', {}, 'url'],
    ['a URL that is null', { url: null }, 'url'],
    ['what is no URL', { url: 'hooks' }, 'url'],
    ['plain http', { url: 'http://hooks.invalid/' }, 'url'],
    ['localhost', { url: 'https://localhost/' }, 'url'],
    ['a name of this machine', { url: 'https://db.internal/' }, 'url'],
    ['a name without a dot', { url: 'https://postgres/' }, 'url'],
    ['an address', { url: 'https://93.184.216.34/' }, 'url'],
    ['an address in hex', { url: 'https://0x7f.1/' }, 'url'],
    ['an address as one number', { url: 'https://2130706433/' }, 'url'],
    ['an address in octal', { url: 'https://0177.0.0.1/' }, 'url'],
    ['an IPv6 address', { url: 'https://[::1]/' }, 'url'],
    ['a user name', { url: 'https://me@hooks.invalid/' }, 'url'],
    ['a fragment', { url: 'https://hooks.invalid/#a' }, 'url'],
    ['a port of another protocol', { url: 'https://hooks.invalid:25/' }, 'url'],
    ['a URL that is too long', { url: `https://hooks.invalid/${'a'.repeat(webhookLimits.url_chars_max)}` }, 'url'],
    ['an event that there is none of', { url: URL_SET, events: ['born'] }, 'events.0'],
    ['no event', { url: URL_SET, events: [] }, 'events'],
    ['a secret that is too short', { url: URL_SET, secret: 'short' }, 'secret'],
    ['a secret beyond ASCII', { url: URL_SET, secret: 'ü'.repeat(32) }, 'secret'],
    ['a secret that is no base64', { url: URL_SET, secret: `whsec_${'-'.repeat(44)}` }, 'secret'],
    ['a secret of too few bytes', { url: URL_SET, secret: 'whsec_aaaa' }, 'secret'],
    ['a member that there is none of', { url: URL_SET, event: ['settle'] }, 'event'],
  ])('400 on %s, with its name', async (_, body, param) => {
    expect(await set(agent, body)).toMatchObject({ status: 400, body: { code: 'invalid_request', error: { param } } });
    expect((await read(agent)).body.webhook).toBeNull();
  });

  it('429 beyond so many changes in an hour; what changes nothing is none', async () => {
    const own = await service.newAgent();
    await set(own, { url: URL_SET });
    for (let change = 1; change < webhookLimits.changes_per_hour_max; change++)
      expect((await set(own, { url: `https://hooks.invalid/${change}` })).status).toBe(200);
    const last = { url: `https://hooks.invalid/${webhookLimits.changes_per_hour_max - 1}` };
    expect((await set(own, last)).status).toBe(200);
    const refused = await set(own, { url: URL_SET });
    expect(refused).toMatchObject({ status: 429, body: { code: 'rate_limited' } });
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await remove(own)).status).toBe(200);
    expect((await set(own, { url: URL_SET })).status).toBe(429);
  });
});

describe('DELETE /v1/agents/{agent_id}/book/webhook', () => {
  it('200 with null, again too; one that is set afterwards has another secret', async () => {
    const own = await service.newAgent();
    const { body: first } = await put(own, { url: URL_SET });
    expect((await remove(own)).body.webhook).toBeNull();
    expect((await remove(own)).body.webhook).toBeNull();
    expect((await read(own)).body.webhook).toBeNull();
    const { body: second } = await put(own, { url: URL_SET });
    expect(second.secret_once).toMatch(/^whsec_/);
    expect(second.secret_once).not.toBe(first.secret_once);
  });
});

describe('POST /v1/agents/{agent_id}/book/webhook/rotate', () => {
  it('200 with another secret, or with the caller’s own, which is not told', async () => {
    const own = await service.newAgent();
    const { body: made } = await put(own, { url: URL_SET });
    const rotated = await rotate(own);
    expect(rotated.status).toBe(200);
    expect(rotated.body.secret_once).toMatch(/^whsec_/);
    expect(rotated.body.secret_once).not.toBe(made.secret_once);
    const given = await rotate(own, { secret: 's'.repeat(40) });
    expect(given.body).toEqual({ agent_id: own.agent_id, webhook: standing, supported_events: usual });
  });

  it('429 while two old secrets sign beside it', async () => {
    const own = await service.newAgent();
    await put(own, { url: URL_SET });
    await rotate(own);
    await rotate(own);
    expect(await rotate(own)).toMatchObject({ status: 429, body: { code: 'rate_limited' } });
  });

  it('400 on a secret that is none, 404 where there is no webhook', async () => {
    expect(await rotate(agent, { secret: 'short' })).toMatchObject({
      status: 400,
      body: { error: { param: 'secret' } },
    });
    expect(await rotate(agent)).toMatchObject({ status: 404, body: { code: 'not_found' } });
  });
});

describe.each([
  ['ping', {}],
  ['redeliver', { from_position: 1, to_position: 2 }],
] as const)('POST /v1/agents/{agent_id}/book/webhook/%s', (name, body) => {
  it('404 where no webhook is enabled', async () => {
    expect(await service.post(path(agent, `/${name}`), body, shown(agent))).toMatchObject({
      status: 404,
      body: { code: 'not_found' },
    });
    const own = await service.newAgent();
    await put(own, { url: URL_SET, enabled: false });
    expect(await service.post(path(own, `/${name}`), body, shown(own))).toMatchObject({ status: 404 });
  });
});

describe('bounds of what is free', () => {
  it.each<[string, number, number]>([
    ['that ends before it begins', 2, 1],
    ['of no position', 0, 1],
    ['that is too wide', 1, webhookLimits.redelivered_positions_max + 1],
  ])('400 on a redelivery %s', async (_, from, to) => {
    const own = await service.newAgent();
    await put(own, { url: URL_SET });
    expect(await redeliver(own, from, to)).toMatchObject({ status: 400, body: { code: 'invalid_request' } });
  });

  it('202, and 429 beyond so many test messages in an hour', async () => {
    const own = await service.newAgent();
    await put(own, { url: 'https://hooks.invalid/' });
    const ids = new Set<string>();
    for (let count = 0; count < webhookLimits.pings_per_hour_max; count++) {
      const { status, body } = await ping(own);
      expect(status).toBe(202);
      ids.add(body.id);
    }
    expect(ids.size).toBe(webhookLimits.pings_per_hour_max);
    expect(await ping(own)).toMatchObject({ status: 429, body: { code: 'rate_limited' } });
  });
});

describe('GET /v1/agents/{agent_id}/book/webhook/dead-letters', () => {
  it('200 with none, 400 on a cursor that is none and on a limit of none', async () => {
    expect((await deadLetters(agent)).body).toEqual({ agent_id: agent.agent_id, dead_letters: [], next: null });
    expect(await deadLetters(agent, '?before=x')).toMatchObject({ status: 400 });
    expect(await deadLetters(agent, '?limit=0')).toMatchObject({ status: 400 });
  });
});
