import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type HubHabit, refusals } from '../../gateway/development/hub/habits.ts';
import { ask, CHAT, openService, type Service } from '../harness/doors/open-service.ts';
import { movableClock } from '../harness/movable-clock.ts';
import { answerWith, completion, type HubServer, openHubServer } from '../harness/receipt/inference/hub-server.ts';
import { atEnd } from '../harness/release.ts';

/*
 * A request that a hub refuses costs work but is not charged, so it is counted by payer or API key and by address. Beyond the limit
 * (RATE_UNCHARGED) no hub is called. Refusals that concern this service's account are logged without any caller's text.
 */

const BOUND = 6;
const KEYS = Array.from({ length: 11 }, (_, index) => `a-live-key-${index}`);
const DEMO_KEYS = Array.from({ length: 24 }, (_, index) => `a-demo-key-${index}`);
const HUB_KEY = 'sk-one-4f1b7c9d02aa';
const CHUNK = JSON.stringify({ choices: [{ index: 0, delta: { content: 'Hello' }, finish_reason: 'stop' }] });
const clock = movableClock();
let service: Service;
let hubs: readonly [HubServer, HubServer];
/** Answer of both hubs. Null if they answer well. */
let habit: HubHabit | null;
let address: string;
let demo: { readonly 'X-API-Key': string };
let tests = 0;

beforeAll(async () => {
  const serving = async (index: 0 | 1) =>
    openHubServer(response => {
      if (habit !== null) {
        response.writeHead(habit.status, { 'content-type': 'application/json', ...habit.headers }).end(habit.body);
        return;
      }
      const { stream } = (hubs[index].received.at(-1)?.body ?? {}) as { stream?: boolean };
      if (!stream) answerWith(completion)(response);
      else response.writeHead(200, { 'content-type': 'text/event-stream' }).end(`data: ${CHUNK}\n\ndata: [DONE]\n\n`);
    });
  hubs = [await serving(0), await serving(1)];
  for (const hub of hubs) atEnd(() => hub[Symbol.asyncDispose]());
  const settings = hubs.map(({ base_url }, index) => ({
    name: `hub-${index}`,
    base_url,
    api_key: HUB_KEY,
    models: ['some/model'],
  }));
  service = await openService(
    {
      HUBS: JSON.stringify(settings),
      RATE_UNCHARGED: `${BOUND}/900`,
      API_KEYS: KEYS.join(','),
      DEMO_KEYS: DEMO_KEYS.join(','),
      TRUSTED_PROXIES: 'loopback',
    },
    { clock },
  );
});
/** Each test uses a new address and demo key, so that it is not refused because of another test. */
beforeEach(() => {
  for (const hub of hubs) hub.received.length = 0;
  address = `203.0.113.${++tests}`;
  demo = { 'X-API-Key': DEMO_KEYS[tests] ?? '' };
  service.gateway.logs.length = 0;
});

const hubCalls = () => hubs.reduce((sum, hub) => sum + hub.received.length, 0);

interface RefusalBody {
  readonly code: string;
  readonly charged: boolean;
  readonly svc?: { readonly task_id: string };
}
const post = (body: object, headers: Readonly<Record<string, string>>) =>
  service.post<RefusalBody>(CHAT, body, { 'x-forwarded-for': address, ...headers });

/** The complete answer to a chat, whole or streamed. */
async function answered(body: object, headers: Readonly<Record<string, string>>) {
  const sent = { 'content-type': 'application/json', 'x-forwarded-for': address, ...headers };
  const answer = await fetch(service.url + CHAT, { method: 'POST', headers: sent, body: JSON.stringify(body) });
  return { status: answer.status, text: await answer.text() };
}

const WHOLE = ask('Hello', { model: 'some/model' });
const ways = [
  ['whole', WHOLE],
  ['as a stream', ask('Hello', { model: 'some/model', stream: true })],
] as const;
const crowded = [
  ['dev/rate-limited', 'hub_rate_limited'],
  ['dev/overloaded', 'hub_overloaded'],
] as const;

describe.each(ways)('POST /v1/chat/completions by API key, %s', (_, request) => {
  it('429 rate_limited after the bound for a demo key whose requests hubs refuse, and no hub is asked', async () => {
    habit = refusals['dev/context-too-long'];
    for (let times = 0; times < BOUND; times++)
      expect((await post(request, demo)).body.code).toBe('hub_rejected_request');
    const limited = await post(request, demo);
    expect(limited).toMatchObject({ status: 429, body: { code: 'rate_limited', charged: false } });
    expect(Number(limited.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(limited.headers.get('ratelimit-policy')).toBe(`"uncharged";q=${BOUND};w=900`);
    expect(hubCalls()).toBe(BOUND);
    habit = null;
    const other = await answered(request, { 'X-API-Key': KEYS[0] ?? '' });
    expect(other).toMatchObject({ status: 200, text: expect.stringContaining('Hello') });
  });

  it.each(crowded)('429 rate_limited after the bound where every hub answers as %s', async (name, code) => {
    habit = refusals[name];
    for (let times = 0; times < BOUND; times++) expect((await post(request, demo)).body.code).toBe(code);
    expect((await post(request, demo)).body.code).toBe('rate_limited');
    expect(hubCalls()).toBe(2 * BOUND);
  });
});

describe('POST /v1/chat/completions by API key', () => {
  it('429 rate_limited for an address that comes with one key after the other, once it was ten times the bound', async () => {
    habit = refusals['dev/context-too-long'];
    const codes = new Map<string, number>();
    for (const key of KEYS)
      for (let times = 0; times < BOUND; times++) {
        const { code } = (await post(WHOLE, { 'X-API-Key': key })).body;
        codes.set(code, (codes.get(code) ?? 0) + 1);
      }
    expect(Object.fromEntries(codes)).toEqual({ hub_rejected_request: 10 * BOUND, rate_limited: BOUND });
    expect(hubCalls()).toBe(10 * BOUND);
    habit = null;
    address = '198.51.100.1';
    expect((await post(WHOLE, { 'X-API-Key': KEYS[10] ?? '' })).status).toBe(200);
  });

  it('the answer that a key has bought under a name goes out while the key rests', async () => {
    habit = null;
    const named = { ...demo, 'Idempotency-Key': 'bought-before' };
    const bought = await post(WHOLE, named);
    habit = refusals['dev/context-too-long'];
    for (let times = 0; times < BOUND; times++) await post(WHOLE, demo);
    expect((await post(WHOLE, demo)).body.code).toBe('rate_limited');
    expect(await post(WHOLE, named)).toMatchObject({
      status: 200,
      body: { svc: { task_id: bought.body.svc?.task_id } },
    });
  });

  it('200 again once the time that Retry-After names is over', async () => {
    habit = refusals['dev/context-too-long'];
    for (let times = 0; times < BOUND; times++) await post(WHOLE, demo);
    const limited = await post(WHOLE, demo);
    expect(limited.body.code).toBe('rate_limited');
    habit = null;
    clock.pass(Number(limited.headers.get('retry-after')));
    expect((await post(WHOLE, demo)).status).toBe(200);
  });
});

it('createChatCompletion by API key: rate_limited after the bound, and no hub is asked', async () => {
  habit = refusals['dev/context-too-long'];
  const query = 'mutation ($input: ChatCompletionInput!) { createChatCompletion(input: $input) { model } }';
  const code = async () => {
    const headers = { 'x-forwarded-for': address, ...demo };
    const { body } = await service.post<{ errors: { extensions: { code: string; status: number } }[] }>(
      '/graphql',
      { query, variables: { input: WHOLE } },
      headers,
    );
    return body.errors[0]?.extensions;
  };
  for (let times = 0; times < BOUND; times++) expect(await code()).toMatchObject({ code: 'hub_rejected_request' });
  expect(await code()).toMatchObject({ code: 'rate_limited', status: 429, charged: false });
  expect(hubCalls()).toBe(BOUND);
});

describe.each(ways)('POST /v1/chat/completions with one payment, %s', (_, request) => {
  it.each(crowded)(
    'while every hub answers as %s: 429 rate_limited after the bound, never payment_lapsed, and the payment buys later',
    async (name, code) => {
      habit = refusals[name];
      const payer = await service.chain.newWallet();
      const payment = await service.payment(payer, CHAT);
      for (let times = 0; times < BOUND; times++) expect((await post(request, payment)).body.code).toBe(code);
      const limited = await post(request, payment);
      expect(limited).toMatchObject({ status: 429, body: { code: 'rate_limited', charged: false } });
      expect([hubCalls(), await service.transfersFrom(payer)]).toEqual([2 * BOUND, []]);
      expect(await service.claimsOf(payer)).toEqual([{ state: 'released', reason: code }]);

      habit = null;
      clock.pass(Number(limited.headers.get('retry-after')));
      expect(await answered(request, payment)).toMatchObject({ status: 200, text: expect.stringContaining('Hello') });
      expect(await service.transfersFrom(payer)).toHaveLength(1);
    },
  );
});

describe('a refusal of a hub that is not passed on', () => {
  const refusing = (status: number, error: unknown): HubHabit => ({
    source: 'made up',
    status,
    body: JSON.stringify({ error }),
  });
  interface Line {
    readonly hub?: string;
    readonly level: number;
    readonly msg: string;
    readonly status?: number;
    readonly hub_code?: string | null;
    readonly hub_type?: string | null;
  }
  const logged = () =>
    service.gateway.logs
      .map(line => JSON.parse(line) as Line)
      .filter(({ hub }) => hub !== undefined)
      .map(({ level, msg, hub, status, hub_code, hub_type }) => ({ level, msg, hub, status, hub_code, hub_type }))
      .sort((one, other) => String(one.hub).localeCompare(String(other.hub)));
  const lines = (status: number, hub_code: string | null, hub_type: string | null) =>
    ['hub-0', 'hub-1'].map(hub => ({
      level: 40,
      msg: 'A hub refused a request. The refusal is not passed on to the caller; check the account and configuration of the hub.',
      hub,
      status,
      hub_code,
      hub_type,
    }));

  it('is one warn line a minute for each hub, status and code', async () => {
    habit = refusals['dev/out-of-credit'];
    for (let times = 0; times < 3; times++) expect((await post(WHOLE, demo)).body.code).toBe('hub_failed');
    const first = lines(429, 'insufficient_quota', 'insufficient_quota');
    expect(logged()).toEqual(first);
    habit = refusing(403, { code: 'account_deactivated', type: 'invalid_request_error' });
    expect((await post(WHOLE, demo)).body.code).toBe('hub_failed');
    const second = lines(403, 'account_deactivated', 'invalid_request_error');
    expect(logged()).toHaveLength(first.length + second.length);
    expect(logged()).toEqual(expect.arrayContaining(second));
    service.gateway.logs.length = 0;
    habit = refusals['dev/out-of-credit'];
    clock.pass(60);
    expect((await post(WHOLE, demo)).body.code).toBe('hub_failed');
    expect(logged()).toEqual(first);
  });

  it.each([
    ['whole', 401, {}],
    ['as a stream', 404, { stream: true }],
  ] as const)(
    'tells no key, address, body or text of a caller, whatever the hub writes; %s',
    async (_, status, more) => {
      const NEEDLE = 'needle of the caller';
      const spelt = [
        HUB_KEY,
        ...hubs.map(({ base_url }) => new URL(base_url).host),
        NEEDLE,
        'org-AbCdEf0123456789',
        address,
      ];
      for (const needle of spelt) {
        habit = refusing(status, { code: needle, type: needle, param: needle, message: spelt.join(' ') });
        const { body } = await post(ask(NEEDLE, { model: 'some/model', ...more }), demo);
        expect(body.code).toBe('hub_failed');
      }
      expect(logged()).toEqual(lines(status, null, null));
      const written = service.gateway.logs.join('\n');
      for (const needle of [...spelt, demo['X-API-Key']]) expect(written).not.toContain(needle);
    },
  );

  it('is no line where the caller receives it', async () => {
    for (const name of ['dev/context-too-long', 'dev/flagged', 'dev/rate-limited', 'dev/overloaded'] as const) {
      habit = refusals[name];
      expect((await post(WHOLE, demo)).body.code).toMatch(/^hub_(rejected|rate_limited|overloaded)/);
    }
    expect(logged()).toEqual([]);
  });
});
