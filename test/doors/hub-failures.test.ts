import type { ServerResponse } from 'node:http';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { ask, CHAT, type Chat, openService, type Service } from '../harness/doors/open-service.ts';
import {
  answerWith,
  completion,
  type HubServer,
  hubFailures,
  openHubServer,
} from '../harness/receipt/inference/hub-server.ts';
import { atEnd } from '../harness/release.ts';

type Behaviour = (response: ServerResponse) => void;
const good = answerWith(completion);

/** Longer than a good hub takes on a busy machine. No test asserts a duration. */
const HUB_TIMEOUT_MS = 1_000;
const keys = ['sk-one-4f1b7c', 'sk-two-9d02aa'];
/** A path in a hub's base URL, which must stay secret because some hubs keep a secret in it. */
const SECRET_PATH = '/tenant-51aa';

let service: Service;
let hubs: readonly [HubServer, HubServer];
/** The target of a redirecting hub, which no request may reach. */
let elsewhere: HubServer;
/** Behaviour of the hub that is called first in a test, then that of the next one. */
let behaviours: Behaviour[] = [];

beforeAll(async () => {
  const next: Behaviour = response => (behaviours.shift() ?? good)(response);
  hubs = [await openHubServer(next), await openHubServer(next)];
  elsewhere = await openHubServer(good);
  for (const hub of [...hubs, elsewhere]) atEnd(() => hub[Symbol.asyncDispose]());
  const settings = hubs.map(({ base_url }, index) => ({
    name: ['one', 'two'][index],
    base_url: base_url.replace('/v1', `${SECRET_PATH}/v1`),
    api_key: keys[index],
    models: [`${['one', 'two'][index]}-model`],
  }));
  service = await openService({
    HUBS: JSON.stringify(settings),
    HUB_TIMEOUT_MS: String(HUB_TIMEOUT_MS),
    LOG_LEVEL: 'trace',
  });
});
beforeEach(() => {
  behaviours = [];
});

const hubCalls = () => hubs.map(hub => hub.received.length);
const sum = (counts: readonly number[]) => counts.reduce((all, count) => all + count, 0);

function json(status: number, body: unknown, headers: Record<string, string> = {}): Behaviour {
  return response =>
    void response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}

/** Sends one byte at a time, with no pause long enough for a time-out between bytes. */
const drip: Behaviour = response => {
  response.writeHead(200, { 'content-type': 'application/json' });
  const timer = setInterval(() => response.write(' '), 50);
  response.on('close', () => clearInterval(timer));
};

const unauthorized = { error: { message: `Incorrect API key provided: ${keys[0]}, ${keys[1]}.` } };
const every: readonly (readonly [reason: string, what: string, behaviour: Behaviour])[] = [
  ...hubFailures.map(([reason, behaviour], index) => [reason, `way ${index} of a hub to fail`, behaviour] as const),
  ['status_401', 'our key refused, and shown', json(401, unauthorized)],
  ['status_402', 'no credit', json(402, {})],
  ['status_204', 'nothing', response => void response.writeHead(204).end()],
  [
    'status_307',
    'a redirect that keeps the method',
    response => void response.writeHead(307, { location: `${elsewhere.base_url}/chat/completions` }).end(),
  ],
  ['not_json', 'a page', response => void response.writeHead(200, { 'content-type': 'text/html' }).end('<html>')],
  ['not_json', 'nothing at all', response => void response.writeHead(200).end()],
  [
    'not_json',
    'compressed bytes',
    response => void response.writeHead(200, { 'content-encoding': 'gzip' }).end('\x1f'),
  ],
  ['not_a_completion', 'a list', json(200, [completion])],
  ['not_a_completion', 'null', json(200, null)],
  ['timeout', 'a byte now and then', drip],
];

/** Expects that a text contains neither a hub's key nor its address. */
function keepsSecrets(shown: string): void {
  for (const secret of [...keys, SECRET_PATH, ...hubs.map(hub => new URL(hub.base_url).host)])
    expect(shown).not.toContain(secret);
}

const reservedOf = async (agent_id: number) =>
  (
    await service.query<{ reserved: string }>(
      'select reserved_atomic::text as reserved from book where agent_id = $1',
      [agent_id],
    )
  )[0]?.reserved;

describe('POST /v1/chat/completions', () => {
  it.each(every)('200 from the other hub, which svc names, where the first fails by %s: %s', async (_, _what, bad) => {
    const before = hubCalls();
    behaviours = [bad, good];
    const { status, body, text } = await service.buy(await service.chain.newWallet());
    expect(status).toBe(200);
    const after = hubCalls().map((count, index) => count - (before[index] ?? 0));
    expect(after).toEqual([1, 1]);
    const { hub, payload } = body.svc as unknown as { hub: string; payload: JsonObject };
    expect(['one', 'two']).toContain(hub);
    expect(body.model).toBe(`${hub}-model`);
    expect(payload).toMatchObject({ hub, model: `${hub}-model` });
    keepsSecrets(text);
  });

  it.each(every)(
    '502 (429 where they take no more) where both fail by %s: %s; and the payment pays when it is sent again',
    async (reason, _, bad) => {
      const [status, code] = reason === 'status_429' ? [429, 'hub_rate_limited'] : [502, 'hub_failed'];
      const { account, agent_id } = await service.newAgent();
      const payment = await service.payment(account, CHAT);
      behaviours = [bad, bad];
      const failed = await service.post<{ attempts: JsonObject[] }>(CHAT, ask(), payment);
      expect(failed).toMatchObject({ status, body: { code, charged: false } });
      expect(failed.body.attempts.map(attempt => attempt.reason)).toEqual([reason, reason]);
      expect(failed.body.attempts.map(attempt => attempt.hub).sort()).toEqual(['one', 'two']);
      keepsSecrets(failed.text);
      expect(await service.claimsOf(account)).toContainEqual({ state: 'released', reason: code });
      expect(await reservedOf(agent_id)).toBe('0');
      expect(await service.transfersFrom(account)).toHaveLength(1);

      expect((await service.post<Chat>(CHAT, ask(), payment)).status).toBe(200);
      expect(await service.transfersFrom(account)).toHaveLength(2);
      expect(await reservedOf(agent_id)).toBe('0');
    },
  );

  it('502 to one model where its only hub is away; the other hub goes on', async () => {
    behaviours = [response => void response.destroy(), good];
    const payment = await service.payment(await service.chain.newWallet(), CHAT);
    const failed = await service.post(CHAT, ask('Hello', { model: 'one-model' }), payment);
    expect(failed).toMatchObject({ status: 502, body: { attempts: [{ hub: 'one', reason: 'unreachable' }] } });
    const { body } = await service.buy(await service.chain.newWallet(), ask('Hello', { model: 'two-model' }));
    expect(body).toMatchObject({ model: 'two-model', svc: { hub: 'two' } });
  });

  it('a redirect is never followed', () => {
    expect(elsewhere.received).toEqual([]);
  });

  it('what the hubs got is our key and the request; what the log got is neither key nor address', () => {
    expect(sum(hubCalls())).toBeGreaterThan(3 * every.length);
    for (const [index, hub] of hubs.entries())
      for (const { headers, path } of hub.received)
        expect([headers.authorization, path]).toEqual([`Bearer ${keys[index]}`, `${SECRET_PATH}/v1/chat/completions`]);
    keepsSecrets(service.gateway.logs.join('\n'));
  });
});
