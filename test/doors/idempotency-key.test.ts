import { beforeAll, describe, expect, it } from 'vitest';
import { nowSeconds, payingFetch, registrationOf } from '../harness/buyer.ts';
import { askToStream, listen } from '../harness/doors/listen.ts';
import {
  ask,
  CHAT,
  type Chat,
  openService,
  REGISTER,
  type RegistrationAnswer,
  resetHubsBeforeEach,
  type Service,
} from '../harness/doors/open-service.ts';
import { identifiedPayment, newIdentifier } from '../harness/doors/payment-identifiers.ts';
import { withoutReferences } from '../harness/openapi.ts';

let service: Service;
beforeAll(async () => {
  service = await openService({ API_KEYS: 'a-live-key,another-live-key', DEMO_KEYS: 'a-demo-key' });
});
resetHubsBeforeEach(() => service);

let number = 0;
const newKey = () => `key-${++number}-of-an-order`;
const byKey = (key: string, more: Record<string, string> = {}) => ({
  'X-API-Key': 'a-live-key',
  'Idempotency-Key': key,
  ...more,
});
const hubCalls = () => service.hubs.reduce((sum, hub) => sum + hub.requests.length, 0);
const status = ({ headers }: { headers: Headers }) => headers.get('x-svc-settlement-status');
const chat = (content: string, headers: Record<string, string>) => service.post<Chat>(CHAT, ask(content), headers);

describe('a chat by API key under an Idempotency-Key', () => {
  it('200 idempotent_replay to the same request: the same answer, receipt and salt, and the hub is asked once', async () => {
    const before = hubCalls();
    const key = newKey();
    const first = await chat('Once', byKey(key));
    const again = await chat('Once', byKey(key));
    expect([first.status, again.status]).toEqual([200, 200]);
    expect([status(first), status(again)]).toEqual(['waived', 'idempotent_replay']);
    const svc = { ...first.body.svc, settlement_status: 'idempotent_replay' };
    expect(again.body).toEqual({ ...first.body, svc });
    expect(again.headers.get('x-svc-request-salt')).toBe(first.headers.get('x-svc-request-salt'));
    expect(hubCalls()).toBe(before + 1);
    // The same key in quotes, as the IETF draft writes it.
    expect(status(await chat('Once', byKey(`"${key}"`)))).toBe('idempotent_replay');
  });

  it('409 idempotency_key_conflict to another request, and to the same in a stream; each keeps what it has', async () => {
    const key = newKey();
    const first = await chat('One thing', byKey(key));
    const before = hubCalls();
    const conflict = { status: 409, body: { code: 'idempotency_key_conflict', charged: false } };
    expect(await chat('Another', byKey(key))).toMatchObject(conflict);
    expect(await service.post(CHAT, askToStream('One thing'), byKey(key))).toMatchObject(conflict);
    expect(hubCalls()).toBe(before);
    expect((await chat('One thing', byKey(key))).body.svc.task_id).toBe(first.body.svc.task_id);
  });

  it('409 idempotency_key_in_flight with Retry-After while it is worked on; then its answer', async () => {
    const release = Promise.withResolvers<void>();
    service.hubs[0].behave({ kind: 'answer', until: release.promise });
    const [before, key] = [hubCalls(), newKey()];
    const first = chat('Slowly', byKey(key));
    await expect.poll(hubCalls).toBe(before + 1);
    const busy = await chat('Slowly', byKey(key));
    expect(busy).toMatchObject({ status: 409, body: { code: 'idempotency_key_in_flight', charged: false } });
    expect(busy.headers.get('retry-after')).toBe('1');
    expect(await chat('Something else', byKey(key))).toMatchObject({ body: { code: 'idempotency_key_conflict' } });
    release.resolve();
    expect((await first).status).toBe(200);
    expect((await chat('Slowly', byKey(key))).body.svc.task_id).toBe((await first).body.svc.task_id);
  });

  it('of many at once one is worked for; the others hear its answer, or to ask again', async () => {
    const [before, key] = [hubCalls(), newKey()];
    const heard = await Promise.all(Array.from({ length: 12 }, () => chat('All at once', byKey(key))));
    expect(heard.filter(answer => status(answer) === 'waived')).toHaveLength(1);
    for (const answer of heard) expect([200, 409]).toContain(answer.status);
    expect(hubCalls()).toBe(before + 1);
  });

  it('in a stream: the same words and the same signed bytes, in a stream', async () => {
    const [before, key] = [hubCalls(), newKey()];
    const first = await (await listen(service, askToStream('Streamed'), { headers: byKey(key) })).rest();
    const stream = await listen(service, askToStream('Streamed'), { headers: byKey(key) });
    expect(stream.headers.get('x-svc-settlement-status')).toBe('idempotent_replay');
    const again = await stream.rest();
    expect(again).toMatchObject({ ends_well: true, text: first.text, finish_reasons: ['stop'] });
    expect(again.svc?.issuer_signature).toEqual(first.svc?.issuer_signature);
    expect(hubCalls()).toBe(before + 1);
  });

  it("nobody else's key meets it: another live key, a demo key, and no key at all", async () => {
    const key = newKey();
    const first = await chat('Mine', byKey(key));
    for (const other of ['another-live-key', 'a-demo-key']) {
      const theirs = await chat('Mine', byKey(key, { 'X-API-Key': other }));
      expect([theirs.status, status(theirs)]).toEqual([200, 'waived']);
      expect(theirs.body.svc.task_id).not.toBe(first.body.svc.task_id);
    }
    expect((await chat('Mine', { 'Idempotency-Key': key })).status).toBe(402);
  });

  it("under a session it is that agent's: 409 to another; the row has a replay event and is one", async () => {
    const [one, other] = [await service.newAgent(), await service.newAgent()];
    const key = newKey();
    const on = ({ session }: { session: string }) => chat('Booked', byKey(key, { 'X-SVC-Session': session }));
    const first = await on(one);
    expect(first.status).toBe(200);
    expect(await on(other)).toMatchObject({ status: 409, body: { code: 'idempotency_key_conflict' } });
    expect(await chat('Booked', byKey(key))).toMatchObject({ status: 409 });
    expect(status(await on(one))).toBe('idempotent_replay');
    const { body } = await service.get<{ entries: { task_id: string; replay_count: number }[] }>(
      `/v1/agents/${one.agent_id}/book`,
      { 'X-SVC-Session': one.session },
    );
    const rows = body.entries.filter(({ task_id }) => task_id === first.body.svc.task_id);
    expect(rows).toMatchObject([{ replay_count: 1 }]);
  });

  it('what failed leaves its key free: 502, then the work is done under the same', async () => {
    const key = newKey();
    for (const hub of service.hubs) hub.behave({ kind: 'status', status: 500 });
    expect((await chat('Failing', byKey(key))).status).toBe(502);
    for (const hub of service.hubs) hub.behave({ kind: 'answer' });
    const done = await chat('Failing', byKey(key));
    expect([done.status, status(done)]).toEqual([200, 'waived']);
  });

  it('what its book refuses leaves it free, too', async () => {
    const { agent_id, session } = await service.newAgent();
    const set = (value: boolean) =>
      service.post(`/v1/agents/${agent_id}/book/policy`, { session, policy_type: 'kill_switch', value });
    const headers = byKey(newKey(), { 'X-SVC-Session': session });
    await set(true);
    expect(await chat('Refused', headers)).toMatchObject({ status: 403, body: { code: 'policy_blocked' } });
    await set(false);
    expect(status(await chat('Refused', headers))).toBe('waived');
    // A stored answer is delivered regardless of the book's policy at that time.
    await set(true);
    expect(status(await chat('Refused', headers))).toBe('idempotent_replay');
  });

  it.each(['', '""', 'two words', 'k'.repeat(256)])('400 on a key that is none: %j', async key => {
    const before = hubCalls();
    const heard = await chat('Bad key', byKey(key));
    expect(heard).toMatchObject({
      status: 400,
      body: { code: 'invalid_request', error: { param: 'Idempotency-Key' } },
    });
    expect(hubCalls()).toBe(before);
  });

  it('neither the keys nor the answer stand in the database as they are', async () => {
    const key = newKey();
    await chat('Something private', byKey(key));
    const rows = await service.query(
      `select idempotent_call::text || encode(answer_box, 'escape') as text from idempotent_call`,
    );
    const text = JSON.stringify(rows);
    for (const secret of [key, 'a-live-key', 'Something private']) expect(text).not.toContain(secret);
    expect(rows.length).toBeGreaterThan(0);
  });
});

describe('registration, a stamp paid by x402, under an Idempotency-Key', () => {
  /** An applicant with a new wallet. Each call of `pay` signs a new payment. */
  async function applicant() {
    const account = await service.chain.newWallet();
    const body = await registrationOf(account);
    const pay = async (key: string, sent: object = body) =>
      service.post<RegistrationAnswer>(REGISTER, sent, {
        ...(await service.payment(account, REGISTER)),
        'Idempotency-Key': key,
      });
    return { account, body, pay };
  }

  it('200 to another payment for the same request: the same agent and session, charged once', async () => {
    const { account, pay } = await applicant();
    const key = newKey();
    const first = await pay(key);
    const again = await pay(key);
    expect([first.status, again.status]).toEqual([200, 200]);
    expect([status(first), status(again)]).toEqual(['settled', 'idempotent_replay']);
    const { agent_id, session, task_id } = first.body;
    expect(again.body).toMatchObject({ agent_id, session, task_id, idempotent_replay: true });
    expect(await service.transfersFrom(account)).toHaveLength(1);
    expect(await service.claimsOf(account)).toHaveLength(1);
  });

  it('of many at once, each with a payment of its own, one is charged', async () => {
    const { account, pay } = await applicant();
    const key = newKey();
    const heard = await Promise.all(Array.from({ length: 5 }, () => pay(key)));
    for (const { status, body } of heard)
      expect(`${status} ${(body as unknown as { code?: string }).code ?? ''}`).toMatch(
        /^(200 |409 payment_in_flight)$/,
      );
    expect((await pay(key)).status).toBe(200);
    expect(await service.transfersFrom(account)).toHaveLength(1);
  });

  it('409 idempotency_key_conflict to another request under it; without one the wallet is registered', async () => {
    const { account, pay } = await applicant();
    const key = newKey();
    expect((await pay(key)).status).toBe(200);
    const other = await registrationOf(account, { at: nowSeconds() - 60 });
    expect(await pay(key, other)).toMatchObject({ status: 409, body: { code: 'idempotency_key_conflict' } });
    expect(await pay(newKey())).toMatchObject({ status: 409, body: { code: 'wallet_registered' } });
    expect(await service.transfersFrom(account)).toHaveLength(1);
  });

  it("it is its payer's: another wallet under the same key registers itself", async () => {
    const [one, other] = [await applicant(), await applicant()];
    const key = newKey();
    expect((await one.pay(key)).body.agent_id).not.toBe((await other.pay(key)).body.agent_id);
  });

  it('400 on a key that is none: the payment stays usable, and then registers', async () => {
    const account = await service.chain.newWallet();
    const [body, payment] = [await registrationOf(account), await service.payment(account, REGISTER)];
    const refused = await service.post(REGISTER, body, { ...payment, 'Idempotency-Key': 'two words' });
    expect(refused).toMatchObject({ status: 400, body: { error: { param: 'Idempotency-Key' } } });
    expect((await service.post(REGISTER, body, payment)).status).toBe(200);
  });
});

describe('beside a payment for work', () => {
  it('an Idempotency-Key names the purchase: a client that pays anew for each try is charged once', async () => {
    const payer = await service.chain.newWallet();
    const headers = { 'Idempotency-Key': newKey() };
    const buy = (content: string) =>
      service.knock<Chat>('POST', CHAT, { body: ask(content), headers, by: payingFetch(payer) });
    const [first, again] = [await buy('Paid'), await buy('Paid')];
    expect([status(first), status(again)]).toEqual(['settled', 'idempotent_replay']);
    expect(again.body.svc.issuer_signature).toEqual(first.body.svc.issuer_signature);
    expect(await buy('Another')).toMatchObject({ status: 409, body: { code: 'idempotency_key_conflict' } });
    expect(await service.transfersFrom(payer)).toHaveLength(1);
    const other = await service.chain.newWallet();
    const theirs = await service.knock('POST', CHAT, { body: ask('Paid'), headers, by: payingFetch(other) });
    expect(status(theirs)).toBe('settled');
  });

  it('with a payment-identifier too: what either name has bought is not bought again', async () => {
    const payer = await service.chain.newWallet();
    const [id, key] = [newIdentifier(), newKey()];
    const buy = async (name: string, idempotency_key: string) => {
      const { headers } = await identifiedPayment(service, payer, name);
      return service.post<Chat>(CHAT, ask('Twice named'), { ...headers, 'Idempotency-Key': idempotency_key });
    };
    expect(status(await buy(id, key))).toBe('settled');
    expect(status(await buy(newIdentifier(), key))).toBe('idempotent_replay');
    expect(status(await buy(id, newKey()))).toBe('idempotent_replay');
    expect(await service.transfersFrom(payer)).toHaveLength(1);
  });

  it('with an API key beside it the payment is charged, once, and names its payer', async () => {
    const payer = await service.chain.newWallet();
    const key = newKey();
    const buy = () => service.knock<Chat>('POST', CHAT, { body: ask('Both'), headers: byKey(key), by: pays });
    const pays: typeof fetch = async (url, init) => {
      const payment = await service.payment(payer, CHAT);
      return fetch(url, { ...init, headers: { ...(init?.headers as Record<string, string>), ...payment } });
    };
    expect([status(await buy()), status(await buy())]).toEqual(['settled', 'idempotent_replay']);
    expect(await service.transfersFrom(payer)).toHaveLength(1);
  });
});

it('OpenAPI names the header at every door that sells, and what it may answer', async () => {
  interface Described {
    readonly paths: Record<
      string,
      Record<string, { parameters: { name: string }[]; responses: Record<string, object> }>
    >;
  }
  const { body } = await service.get<Described & Record<string, never>>('/openapi.json');
  const { paths } = withoutReferences(body);
  for (const path of [CHAT, '/a2a-message', REGISTER]) {
    const { parameters, responses } = paths[path]?.post ?? { parameters: [], responses: {} };
    expect(parameters.map(({ name }) => name)).toContain('Idempotency-Key');
    expect(responses['409']).toMatchObject({ description: expect.stringContaining('idempotency_key_conflict') });
  }
});
