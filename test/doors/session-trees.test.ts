import { beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../schema/canonical-json.ts';
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
beforeAll(async () => {
  service = await sharedService();
  owner = await service.newAgent();
  bound = await newSession(owner);
  expect((await service.buy(owner.account, ask('Bound'), bound.headers)).status).toBe(200);
});

const at = (hash: string, verb = '') => `/v1/sessions/${hash}${verb && `/${verb}`}`;
const newSession = (agent: Agent, more = {}) => delegate(agent.account, agent.account, newKey(), more);
const nobody = hex32();
const read = { action: 'read_private', resource: 'book' } as const;
const act = async (session: DelegatedSession, parts: Parameters<typeof signAct>[1]) =>
  service.post<JsonObject>(at(session.delegation_hash, 'act'), await signAct(session, parts));

describe('/v1/sessions/{delegation_hash}', () => {
  it('/revoke 200 ends it and all below it at once, and is listed; 403 and 400 and 404 otherwise', async () => {
    const session = await newSession(owner);
    await service.buy(owner.account, ask('To be revoked'), session.headers);
    const payer = (await service.newAgent()).account;
    const child = await delegate(session.agent, payer, newKey(), {
      ...narrow(session),
      parentDelegationHash: session.delegation_hash,
    });
    expect((await service.buy(payer, ask('By the child'), child.headers)).status).toBe(200);
    const path = at(session.delegation_hash, 'revoke');
    const invalid = { status: 400, body: { code: 'revocation_invalid' } };
    expect(await service.post(path, await signRevocation(newKey(), session.delegation_hash))).toMatchObject(invalid);
    expect(
      await service.post(path, await signRevocation(owner.account, session.delegation_hash, nowSeconds() - 400)),
    ).toMatchObject(invalid);
    expect((await service.post(at(nobody, 'revoke'), await signRevocation(owner.account, nobody))).status).toBe(404);
    const signed = await signRevocation(owner.account, session.delegation_hash);
    const revoked = await service.post(path, signed);
    expect(revoked).toMatchObject({
      status: 200,
      body: { status: 'revoked', payer: owner.account.address, ...signed },
    });
    expect((await service.post(path, await signRevocation(owner.account, session.delegation_hash))).body).toEqual(
      revoked.body,
    );
    for (const one of [session, child]) {
      expect((await service.get(at(one.delegation_hash))).body).toMatchObject({ status: 'revoked' });
      const refused = { status: 403, body: { code: 'session_not_active', session_status: 'revoked' } };
      expect(await act(one, read)).toMatchObject(refused);
      expect(await service.post(at(one.delegation_hash, 'challenge'), {})).toMatchObject(refused);
    }
    expect(await service.buy(payer, ask('After'), child.headers)).toMatchObject({
      status: 403,
      body: { code: 'session_not_active', charged: false },
    });
    const { body } = await service.get<{ sessions: JsonObject[] }>('/.well-known/revocations');
    expect(body.sessions).toContainEqual({
      delegation_hash: session.delegation_hash,
      payer: owner.account.address,
      revoked_at: expect.any(String),
      seq: expect.any(Number),
      ...signed,
    });
  });

  it('/revoke of a child is also its ancestor’s payer’s', async () => {
    const payer = (await service.newAgent()).account;
    const child = await delegate(bound.agent, payer, newKey(), {
      ...narrow(bound),
      parentDelegationHash: bound.delegation_hash,
    });
    expect((await service.buy(payer, ask('A child'), child.headers)).status).toBe(200);
    const signed = await signRevocation(owner.account, child.delegation_hash);
    expect(await service.post(at(child.delegation_hash, 'revoke'), signed)).toMatchObject({
      status: 200,
      body: { payer: owner.account.address },
    });
    expect((await service.get(at(bound.delegation_hash))).body).toMatchObject({ status: 'active' });
  });
});

describe('a child', () => {
  it('is refused where it is wider than its parent, or signed by anybody but its parent’s key', async () => {
    const child = (more: object, signer = bound.agent) =>
      delegate(signer, owner.account, newKey(), {
        ...narrow(bound),
        parentDelegationHash: bound.delegation_hash,
        ...more,
      });
    const wider = [
      { capAtomic: '1000001' },
      { validAfter: bound.grant.validAfter - 1 },
      { sessionExpiry: bound.grant.sessionExpiry + 1 },
    ];
    const sent = [...(await Promise.all(wider.map(more => child(more)))), await child({}, owner.account)];
    for (const { headers } of sent) {
      const answer = await service.buy(owner.account, ask('Wider'), headers);
      expect(answer).toMatchObject({ status: 400, body: { code: 'delegation_invalid', charged: false } });
    }
  });

  it('counts on its parent, and sessionTree shows both to whoever holds the payer’s book', async () => {
    const root = await newSession(owner, { capAtomic: String(3n * PRICE) });
    await service.buy(owner.account, ask('The root'), root.headers);
    const payer = (await service.newAgent()).account;
    const child = await delegate(root.agent, payer, newKey(), {
      ...narrow(root),
      parentDelegationHash: root.delegation_hash,
    });
    const statuses = [];
    for (const word of ['one', 'two', 'three'])
      statuses.push((await service.buy(payer, ask(word), child.headers)).status);
    expect(statuses).toEqual([200, 200, 403]);
    const query = `{ sessionTree(delegationHash: "${root.delegation_hash}") { truncated sessions { depth status spentAtomic heldAtomic remainingAtomic capAtomic } } }`;
    const { body } = await service.post<{ data: JsonObject }>(
      '/graphql',
      { query },
      { 'X-SVC-Session': owner.session },
    );
    const node = { status: 'active', heldAtomic: '0', capAtomic: '6000' };
    expect(body.data.sessionTree).toEqual({
      truncated: false,
      sessions: [
        { ...node, depth: 0, spentAtomic: '6000', remainingAtomic: '0' },
        { ...node, depth: 1, spentAtomic: '4000', remainingAtomic: '2000' },
      ],
    });
    for (const [headers, code] of [
      [{}, 'unauthenticated'],
      [{ 'X-SVC-Session': (await service.newAgent()).session }, 'not_a_party'],
    ] as const) {
      const { body } = await service.post('/graphql', { query }, headers);
      expect(body).toMatchObject({ errors: [{ extensions: { code } }] });
    }
  });
});

describe('a charge that the book wants a fresh approval for', () => {
  it('passes with a fresh act beside its payment, for this one alone, and is refused without', async () => {
    const agent = await service.newAgent();
    const held = { 'X-SVC-Session': agent.session };
    const policy = (policy_type: string, value: number | string) =>
      service.post(`/v1/agents/${agent.agent_id}/book/policy`, { policy_type, value }, held);
    expect((await policy('tier2_above', '1000')).status).toBe(200);
    expect((await policy('approval_ttl', 120)).status).toBe(200);
    const session = await newSession(agent);
    const { grant, signature } = session;
    const pay = async (payment: Record<string, string>, act?: JsonObject) =>
      service.post(CHAT, ask('Approved'), { ...payment, ...headerOf({ grant, signature, ...(act ? { act } : {}) }) });
    const idOf = (payment: Record<string, string>) => {
      const [header = ''] = Object.values(payment);
      return JSON.parse(Buffer.from(header, 'base64').toString()).payload.authorization.nonce as string;
    };
    const approve = async (payment_id: string, deadline = nowSeconds() + 295) => {
      const {
        nonce,
        deadline: until,
        signature,
      } = (await signAct(session, {
        action: 'pay',
        resource: `payment/${payment_id}`,
        deadline,
      })) as never as JsonObject;
      return { nonce, deadline: until, signature } as JsonObject;
    };
    const paymentOf = async () => (await service.payment(agent.account, CHAT)) as unknown as Record<string, string>;
    const [payment, other, third] = [await paymentOf(), await paymentOf(), await paymentOf()];
    const refused = { status: 401, body: { charged: false } };
    expect(await pay(other, await approve(idOf(payment)))).toMatchObject({
      ...refused,
      body: { code: 'act_signature_invalid' },
    });
    expect(await pay(third, await approve(idOf(third), nowSeconds() + 400))).toMatchObject({
      ...refused,
      body: { code: 'act_expired' },
    });
    expect(await pay(payment)).toMatchObject({ status: 403, body: { refusal_code: 'approval_ttl_expired' } });
    // The act counts as issued 300 s before its deadline, regardless of when it was signed.
    expect(await pay(payment, await approve(idOf(payment), nowSeconds() + 60))).toMatchObject({ status: 403 });
    expect(await pay(payment, await approve(idOf(payment)))).toMatchObject({ status: 200 });
    const { body } = await service.post<{ challenge_id: string; nonce: string; deadline: number }>(
      at(session.delegation_hash, 'challenge'),
      {},
    );
    const { challenge_id, nonce, deadline } = body;
    const by_challenge = await signAct(session, {
      action: 'pay',
      resource: `payment/${idOf(other)}`,
      challenge_id,
      nonce,
      deadline,
    });
    expect(await pay(other, { challenge_id, signature: by_challenge.signature })).toMatchObject({ status: 200 });
  });
});

describe('1,000 calls that race under one tree', () => {
  it('spend no more than the cap of any session over them', async () => {
    const calls_max = 7n;
    const root = await newSession(owner, { capAtomic: String(calls_max * PRICE) });
    await service.buy(owner.account, ask('Binds the root'), root.headers);
    const children = await Promise.all(
      Array.from({ length: 4 }, async () => {
        const account = await service.chain.newWallet();
        const bounds = { ...narrow(root), capAtomic: String(3n * PRICE), parentDelegationHash: root.delegation_hash };
        return { account, ...(await delegate(root.agent, account, newKey(), bounds)) };
      }),
    );
    const statuses: number[] = [];
    const racer = async (_: unknown, racer: number) => {
      const child = children[racer % children.length] as (typeof children)[number];
      for (let turn = 0; turn < 25; turn++) {
        const payment = await service.payment(child.account, CHAT);
        const answer = await service.post(CHAT, ask(`Racer ${racer}, ${turn}`), { ...payment, ...child.headers });
        statuses.push(answer.status);
      }
    };
    await Promise.all(Array.from({ length: 40 }, racer));
    // One of the seven calls is that of the root.
    expect(statuses.filter(status => status === 200)).toHaveLength(Number(calls_max) - 1);
    expect(statuses.filter(status => status === 403)).toHaveLength(1_000 - Number(calls_max) + 1);
    const rows = await service.query<{ spent: bigint; cap: bigint; over: boolean }>(
      `select spent_atomic::text as spent, cap_atomic::text as cap, spent_atomic > cap_atomic as over
      from delegation where path ? $1 order by jsonb_array_length(path)`,
      [root.delegation_hash],
    );
    expect(rows[0]).toEqual({ spent: '14000', cap: '14000', over: false });
    expect(rows.every(({ over }) => !over)).toBe(true);
    const moved = await Promise.all(children.map(({ account }) => service.transfersFrom(account)));
    expect(moved.flat()).toHaveLength(Number(calls_max) - 1);
  });
});

/** Members of a grant with the same limits as its parent. */
function narrow({ grant: { capAtomic, validAfter, sessionExpiry } }: DelegatedSession) {
  return { capAtomic, validAfter, sessionExpiry };
}
