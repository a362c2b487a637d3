import { beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { grantableEndpoints } from '../../schema/paid-operations.ts';
import { sessionDomain, sessionTypes } from '../../schema/session/typed-data.ts';
import { verifyReceipt } from '../../subgraphs/receipt/verify/receipt.ts';
import { ask, CHAT, PRICE, type Service, sharedService } from '../harness/doors/open-service.ts';
import {
  type DelegatedSession,
  delegate,
  headerOf,
  hex32,
  nowSeconds,
  signAct,
  signRevocation,
} from '../harness/session/delegate.ts';
import { newKey } from '../harness/session/trees.ts';

type Agent = Awaited<ReturnType<Service['newAgent']>>;

let service: Service;
let owner: Agent;
let bound: DelegatedSession;
let bought: string;
beforeAll(async () => {
  service = await sharedService();
  owner = await service.newAgent();
  bound = await newSession(owner);
  bought = (await service.buy(owner.account, ask('Bound'), bound.headers)).body.svc.task_id;
});

const at = (hash: string, verb = '') => `/v1/sessions/${hash}${verb && `/${verb}`}`;
const newSession = (agent: Agent, more = {}) => delegate(agent.account, agent.account, newKey(), more);
const receiptOf = async (task_id: string) => (await service.get<JsonObject>(`/receipt/${task_id}.json`)).body;
const spentBy = async ({ account }: Agent) => (await service.transfersFrom(account)).length;

describe('a grant beside a payment', () => {
  it('400 delegation_invalid where it names no paid endpoint: what they are called is said, nothing is charged', async () => {
    const before = await spentBy(owner);
    for (const door of ['createChatCompletion', 'payJob', 'request_task', 'get_session']) {
      const { headers } = await newSession(owner, { doors: ['chat_completions', door] });
      const refused = await service.buy(owner.account, ask(`Named ${door}`), headers);
      expect(refused).toMatchObject({ status: 400, body: { code: 'delegation_invalid', charged: false } });
      const { detail } = refused.body as unknown as { readonly detail: string };
      for (const name of [`"${door}"`, 'chat_completions', 'submit_inference', 'pay_job'])
        expect(detail).toContain(name);
    }
    expect(await spentBy(owner)).toBe(before);
  });

  it('200 of svc/auto where that would choose the model, named or not; 403 grant_exceeded of any other', async () => {
    const { headers } = await newSession(owner, { models: ['svc/auto'] });
    for (const model of ['svc/auto', 'alpha-1', 'beta-1'])
      expect((await service.buy(owner.account, ask(`By ${model}`, { model }), headers)).status).toBe(200);
    expect(await service.buy(owner.account, ask('By another', { model: 'alpha-2' }), headers)).toMatchObject({
      status: 403,
      body: { code: 'grant_exceeded', charged: false },
    });
  });

  it('is one session with its numbers as digits or as numbers', async () => {
    const { grant, signature, delegation_hash } = await newSession(owner);
    const { validAfter, sessionExpiry } = grant;
    const spellings = [
      { ...grant, validAfter: String(validAfter), sessionExpiry: String(sessionExpiry) },
      { ...grant, capAtomic: 1_000_000 },
    ];
    for (const [index, grant] of spellings.entries()) {
      const heard = await service.buy(owner.account, ask(`Spelt ${index}`), headerOf({ grant, signature }));
      expect(heard).toMatchObject({ status: 200, body: { svc: { delegation_hash } } });
    }
  });

  it('is bound by the payment, and its receipt says so and verifies', async () => {
    const receipt = await receiptOf(bought);
    const { grant, delegation_hash } = bound;
    expect(receipt).toMatchObject({
      delegation_hash,
      valid_after: grant.validAfter,
      session_expiry: grant.sessionExpiry,
      caller_binding: { payer_wallet: owner.account.address, agent_pubkey: grant.agentPubkey },
    });
    const { body: jwks } = await service.get('/.well-known/jwks.json');
    expect(verifyReceipt(receipt, jwks as never)).toMatchObject({ kind: 'valid' });
    const { body } = await service.get(at(delegation_hash));
    expect(body).toEqual({
      delegation_hash,
      status: 'active',
      payer: owner.account.address,
      agent_pubkey: grant.agentPubkey,
      valid_after: grant.validAfter,
      session_expiry: grant.sessionExpiry,
      parent_delegation_hash: null,
      bound_at: expect.any(String),
      path: [delegation_hash],
      ended_by: null,
      detail: null,
    });
  });

  it('is part of the request: the same payment under another grant is for another', async () => {
    const payment = await service.payment(owner.account, CHAT);
    const body = ask('Part of it');
    const first = await service.post(CHAT, body, { ...payment, ...bound.headers });
    const again = await service.post(CHAT, body, { ...payment, ...bound.headers });
    expect([first.status, again.status]).toEqual([200, 200]);
    expect(again.body).toMatchObject({ svc: { task_id: (first.body.svc as JsonObject).task_id } });
    for (const headers of [{}, (await newSession(owner)).headers]) {
      const other = await service.post(CHAT, body, { ...payment, ...headers });
      expect(other).toMatchObject({ status: 409, body: { code: 'claim_already_settled' } });
    }
  });

  const refused: [string, number, string, () => Promise<Record<string, string>> | Record<string, string>][] = [
    ['is no base64url', 400, 'delegation_invalid', () => ({ 'X-SVC-Delegation': '{}' })],
    [
      'is another payer’s',
      400,
      'delegation_invalid',
      async () => (await delegate(newKey(), newKey(), newKey())).headers,
    ],
    [
      'is signed by somebody else',
      400,
      'delegation_invalid',
      async () => (await delegate(newKey(), owner.account, newKey())).headers,
    ],
    [
      'is signed with a member changed',
      400,
      'delegation_invalid',
      async () => {
        const { grant, signature } = await newSession(owner);
        return headerOf({ grant: { ...grant, capAtomic: '999999999' }, signature });
      },
    ],
    [
      'names a parent that nobody has bound',
      400,
      'delegation_invalid',
      async () => (await newSession(owner, { parentDelegationHash: hex32() })).headers,
    ],
    [
      'is for other endpoints',
      403,
      'grant_exceeded',
      async () => (await newSession(owner, { doors: ['submit_inference'] })).headers,
    ],
    [
      'is for other models',
      403,
      'grant_exceeded',
      async () => (await newSession(owner, { models: ['no-such'] })).headers,
    ],
    [
      'has not begun',
      403,
      'session_not_active',
      async () => (await newSession(owner, { validAfter: nowSeconds() + 100 })).headers,
    ],
    [
      'is over',
      403,
      'session_not_active',
      async () => (await newSession(owner, { sessionExpiry: nowSeconds() - 1 })).headers,
    ],
    [
      'ends in a moment',
      403,
      'session_not_active',
      async () => (await newSession(owner, { sessionExpiry: nowSeconds() + 5 })).headers,
    ],
    [
      'has a cap below the price',
      403,
      'session_cap_exceeded',
      async () => (await newSession(owner, { capAtomic: '1999' })).headers,
    ],
  ];
  it.each(refused)('%s: %i %s, and nothing is charged', async (_, status, code, headers) => {
    const payment = await service.payment(owner.account, CHAT);
    const before = await spentBy(owner);
    const answer = await service.post(CHAT, ask('Refused'), { ...payment, ...(await headers()) });
    expect(answer).toMatchObject({ status, body: { code, charged: false } });
    expect(await spentBy(owner)).toBe(before);
    // The payment is unused, so it buys without the grant.
    expect((await service.post(CHAT, ask('Refused'), payment)).status).toBe(200);
  });

  it('403 grant_exceeded where its models and those of the book allow none together: nothing is asked or charged', async () => {
    const own = await service.newAgent();
    const { account, agent_id, session } = own;
    const policy = { policy_type: 'model_allowlist', value: ['alpha-1'] };
    await service.post(`/v1/agents/${agent_id}/book/policy`, policy, { 'X-SVC-Session': session });
    const under = await newSession(own, { models: ['beta-1'] });
    const asked = service.hubs.map(({ requests }) => requests.length);
    expect(await service.buy(account, ask('Neither'), under.headers)).toMatchObject({
      status: 403,
      body: { code: 'grant_exceeded', charged: false },
    });
    expect(service.hubs.map(({ requests }) => requests.length)).toEqual(asked);
    expect(await service.transfersFrom(account)).toHaveLength(1);
    // The same for a call that an API key pays for.
    const by_key = { ...under.headers, 'X-API-Key': 'a-live-key', 'X-SVC-Session': session };
    expect(await service.post(CHAT, ask('Neither', { model: 'svc/auto' }), by_key)).toMatchObject({
      status: 403,
      body: { code: 'grant_exceeded', charged: false },
    });
    expect(service.hubs.map(({ requests }) => requests.length)).toEqual(asked);
  });

  it('chooses among its models alone', async () => {
    const session = await newSession(owner, { models: ['beta-1'] });
    const { body } = await service.buy(owner.account, ask('By beta', { model: 'svc/auto' }), session.headers);
    expect(body.model).toBe('beta-1');
  });

  it('spends its cap and no more', async () => {
    const session = await newSession(owner, { capAtomic: String(2n * PRICE) });
    const statuses = [];
    for (const word of ['one', 'two', 'three'])
      statuses.push((await service.buy(owner.account, ask(word), session.headers)).status);
    expect(statuses).toEqual([200, 200, 403]);
  });
});

describe('/v1/sessions', () => {
  const nobody = hex32();

  it('/types 200: what is signed', async () => {
    const { status, body } = await service.get('/v1/sessions/types');
    const told = {
      domain: sessionDomain(service.url),
      former_domains: [],
      types: sessionTypes,
      doors: grantableEndpoints,
    };
    expect({ status, body }).toEqual({ status: 200, body: told });
  });

  it('/{delegation_hash} 400 where that is no hash, 404 where nobody has bound it', async () => {
    expect((await service.get(at('0x12'))).status).toBe(400);
    expect((await service.get(at(nobody))).status).toBe(404);
  });

  it('/{delegation_hash} 200 expired once its time is over; nothing is done under it, and it may be revoked still', async () => {
    const session = await newSession(owner);
    const path = at(session.delegation_hash);
    await service.buy(owner.account, ask('Soon over'), session.headers);
    // A session accepts its last payment 30 s before its end, so its end is moved instead of waiting for it.
    const over = 'update delegation set session_expiry = $2 where delegation_hash = $1';
    await service.query(over, [session.delegation_hash, nowSeconds() - 1]);
    expect((await service.get(path)).body).toMatchObject({ status: 'expired', ended_by: null });
    const refused = { status: 403, body: { code: 'session_not_active', session_status: 'expired' } };
    expect(await service.post(`${path}/challenge`, {})).toMatchObject(refused);
    const act = await signAct(session, { action: 'read_private', resource: 'book' });
    expect(await service.post(`${path}/act`, act)).toMatchObject(refused);
    const revocation = await signRevocation(owner.account, session.delegation_hash);
    expect((await service.post(`${path}/revoke`, revocation)).status).toBe(200);
    expect((await service.get(path)).body).toMatchObject({ status: 'revoked', ended_by: revocation });
  });

  it('/challenge 200: a nonce for as long as it is asked for, and nothing is written', async () => {
    const path = at(bound.delegation_hash, 'challenge');
    for (const [ttl, body] of [
      [120, { ttl_seconds: 120 }],
      [300, {}],
    ] as const) {
      const answer = await service.post<JsonObject>(path, body);
      const { issued_at, deadline } = answer.body as { issued_at: number; deadline: number };
      expect([answer.status, deadline - issued_at]).toEqual([200, ttl]);
    }
    expect(await service.query('select 1 from act_use where delegation_hash = $1', [bound.delegation_hash])).toEqual(
      [],
    );
  });

  it('/challenge 400 beyond 2 to 5 minutes, 404 where there is no session', async () => {
    for (const ttl_seconds of [119, 301])
      expect((await service.post(at(bound.delegation_hash, 'challenge'), { ttl_seconds })).status).toBe(400);
    expect((await service.post(at(nobody, 'challenge'), {})).status).toBe(404);
  });
});
