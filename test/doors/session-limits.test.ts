import { beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { sessionLimits } from '../../schema/limits.ts';
import type { Grant } from '../../schema/session/grant.ts';
import { ask, type Service, sharedService } from '../harness/doors/open-service.ts';
import { policyDoorsOf } from '../harness/doors/policies.ts';
import { type ActParts, type DelegatedSession, delegate, signAct } from '../harness/session/delegate.ts';
import { newKey } from '../harness/session/trees.ts';

/* Sessions and trees whose caps are used up, raced for, or narrower than a request. */

type Agent = Awaited<ReturnType<Service['newAgent']>>;

let service: Service;
let owner: Agent;
beforeAll(async () => {
  service = await sharedService();
  owner = await service.newAgent();
});

async function boundSession(more: Partial<Grant> = {}) {
  const session = await delegate(owner.account, owner.account, newKey(), more);
  const answer = await service.buy(owner.account, ask('Binds', { model: 'alpha-1' }), session.headers);
  expect(answer.status).toBe(200);
  return { session, task_id: answer.body.svc.task_id };
}

function childOf(parent: DelegatedSession, more: Partial<Grant> = {}) {
  const { validAfter, sessionExpiry, models, doors } = parent.grant;
  const within = { capAtomic: '500000', validAfter, sessionExpiry, models, doors };
  const parentDelegationHash = parent.delegation_hash as Grant['parentDelegationHash'];
  return delegate(parent.agent, owner.account, newKey(), { ...within, parentDelegationHash, ...more });
}

const FULL = {
  code: 'delegation_invalid',
  charged: false,
  error: {
    message:
      'The grant is not accepted: its parent session already has 1,000 child sessions that have neither expired nor been revoked.',
  },
};

const buyUnder = ({ headers }: DelegatedSession) =>
  service.buy(owner.account, ask('Under it', { model: 'alpha-1' }), headers);
const act = async (session: DelegatedSession, parts: ActParts) =>
  service.post<JsonObject>(`/v1/sessions/${session.delegation_hash}/act`, await signAct(session, parts));

describe('a child', () => {
  it('400 with more models or doors than its parent, also with all of them; 200 with the same', async () => {
    const { session } = await boundSession({ models: ['alpha-1'], doors: ['chat_completions'] });
    const wider: Partial<Grant>[] = [
      { models: [] },
      { models: ['alpha-1', 'beta-1'] },
      { doors: [] },
      { doors: ['chat_completions', 'create_response'] },
    ];
    for (const more of wider)
      expect(await buyUnder(await childOf(session, more))).toMatchObject({
        status: 400,
        body: { code: 'delegation_invalid', charged: false },
      });
    expect((await buyUnder(await childOf(session))).status).toBe(200);
  });

  it('400 where its parent has as many that live as it may; those that are over do not count', async () => {
    const { session } = await boundSession();
    const made = `parent_hash = '${session.delegation_hash}'`;
    await service.query(
      `insert into delegation select (jsonb_populate_record(d, jsonb_build_object(
          'delegation_hash', d.delegation_hash || '-' || i, 'parent_hash', d.delegation_hash))).*
        from delegation d, generate_series(1, ${sessionLimits.children_max}) i
        where d.delegation_hash = '${session.delegation_hash}'`,
    );
    expect(await buyUnder(await childOf(session))).toMatchObject({ status: 400, body: FULL });
    await service.query(`update delegation set session_expiry = extract(epoch from now())::int8 - 1 where ${made}`);
    expect((await buyUnder(await childOf(session))).status).toBe(200);
  });
});

describe('children of one session that race for its last place', () => {
  it('are bound one by one: one is 200, the others are 400, uncharged', async () => {
    const { session } = await boundSession();
    await service.query(
      `insert into delegation select (jsonb_populate_record(d, jsonb_build_object(
          'delegation_hash', d.delegation_hash || '-' || i, 'parent_hash', d.delegation_hash))).*
        from delegation d, generate_series(1, ${sessionLimits.children_max - 1}) i
        where d.delegation_hash = '${session.delegation_hash}'`,
    );
    const children = await Promise.all(Array.from({ length: 12 }, () => childOf(session)));
    const answers = await Promise.all(children.map(child => buyUnder(child)));
    const [bound, ...others] = answers.toSorted((one, other) => one.status - other.status);
    expect(bound?.status).toBe(200);
    for (const other of others) expect(other).toMatchObject({ status: 400, body: FULL });
  });
});

describe('/v1/sessions/{delegation_hash}/act', () => {
  it('403 approval_ttl_expired where the book of the tree’s wallet has it for one of high risk, whoever pays for the session', async () => {
    const [granting, other] = [await service.newAgent(), await service.chain.newWallet()];
    const root = await delegate(granting.account, granting.account, newKey());
    expect((await service.buy(granting.account, ask('Binds the root'), root.headers)).status).toBe(200);
    const { validAfter, sessionExpiry } = root.grant;
    const child = await delegate(root.agent, other, newKey(), {
      capAtomic: '500000',
      validAfter,
      sessionExpiry,
      parentDelegationHash: root.delegation_hash as Grant['parentDelegationHash'],
    });
    expect((await service.buy(other, ask('Binds the child'), child.headers)).status).toBe(200);
    const parts = { action: 'read_private', resource: 'book' };
    expect((await act(child, parts)).status).toBe(200);
    await policyDoorsOf(service).set(granting, 'risk_tiers', { high: ['read_private'], low: [] });
    expect(await act(child, parts)).toMatchObject({ status: 403, body: { refusal_code: 'approval_ttl_expired' } });
    const issued = await service.post<{ challenge_id: string; nonce: string; deadline: number }>(
      `/v1/sessions/${child.delegation_hash}/challenge`,
      {},
    );
    const { challenge_id, nonce, deadline } = issued.body;
    expect((await act(child, { ...parts, challenge_id, nonce, deadline })).status).toBe(200);
  });

  it('handoff 200 once of 20 that race for one receipt and agent; the others 409 with the receipt that it made', async () => {
    const [{ session, task_id }, target] = [await boundSession(), await service.newAgent()];
    const parts = { action: 'handoff', resource: `receipt/${task_id}`, target_agent: target.agent_id };
    const heard = await Promise.all(Array.from({ length: 20 }, () => act(session, parts)));
    const [handed, ...more] = heard.filter(({ status }) => status === 200);
    expect(more).toEqual([]);
    const { task_id: made } = (handed?.body.receipt ?? {}) as JsonObject;
    for (const { status, body } of heard.filter(one => one !== handed))
      expect([status, body.code, body.task_id]).toEqual([409, 'already_handed_off', made]);
  });

  it('429 rate_limited where as many nonces are remembered as may be', async () => {
    const { session } = await boundSession();
    await service.query(
      `insert into act_use select '${session.delegation_hash}', 'taken-' || i, now() + interval '1 hour'
        from generate_series(1, ${sessionLimits.acts_taken_max}) i`,
    );
    expect(await act(session, { action: 'read_private', resource: 'book' })).toMatchObject({
      status: 429,
      body: { code: 'rate_limited' },
    });
  });
});
