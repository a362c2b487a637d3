import { beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { sessionLimits } from '../../schema/limits.ts';
import { onGraph } from '../harness/doors/on-graph.ts';
import { ask, type Service, sharedService } from '../harness/doors/open-service.ts';
import { type DelegatedSession, delegate, hex32, nowSeconds, signAct } from '../harness/session/delegate.ts';
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
const act = async (session: DelegatedSession, parts: Parameters<typeof signAct>[1], changed: JsonObject = {}) =>
  service.post<JsonObject>(at(session.delegation_hash, 'act'), { ...(await signAct(session, parts)), ...changed });
const read = { action: 'read_private', resource: 'book' } as const;

describe('/v1/sessions/{delegation_hash}', () => {
  const nobody = hex32();

  it('/act 200: read_private shows its own subtree, by a nonce of its own and by a challenge', async () => {
    const mine = await act(bound, read);
    const { entries } = mine.body.read as unknown as { entries: JsonObject[] };
    expect([mine.status, entries.every(({ evidence }) => evidence === 'collected')]).toEqual([200, true]);
    expect(entries.map(({ task_id }) => task_id)).toContain(bought);
    // The registration is on the same book, but not under this session.
    expect(entries.map(({ task_id }) => task_id)).not.toContain(owner.task_id);
    const { body: challenge } = await service.post<{ challenge_id: string; nonce: string; deadline: number }>(
      at(bound.delegation_hash, 'challenge'),
      {},
    );
    const { challenge_id, nonce, deadline } = challenge;
    const csv = await act(bound, { action: 'read_private', resource: 'book/export', challenge_id, nonce, deadline });
    expect(csv).toMatchObject({
      status: 200,
      body: { read: { format: 'csv', document: expect.stringContaining(bought) } },
    });
    const receipt = await act(bound, { ...read, resource: `receipt/${bought}`, payload: { limit: 1 } });
    expect(receipt.body.read).toMatchObject({ task_id: bought });
  });

  it('/act 200: read_private says whether there are older rows, and where they begin', async () => {
    const own = await newSession(owner);
    const tasks: string[] = [];
    for (const words of ['One', 'Two', 'Three'])
      tasks.unshift((await service.buy(owner.account, ask(words), own.headers)).body.svc.task_id);
    const whole = (await act(own, read)).body.read;
    expect(whole).toMatchObject({ truncated: false, next: null });
    const page = (await act(own, { ...read, payload: { limit: 2 } })).body.read;
    expect(page).toMatchObject({
      entries: tasks.slice(0, 2).map(task_id => ({ task_id })),
      truncated: true,
      next: tasks[1],
    });
    const older = { ...read, payload: { limit: 2, before: tasks[1] ?? '' } };
    expect((await act(own, older)).body.read).toMatchObject({
      entries: [{ task_id: tasks[2] }],
      truncated: false,
      next: null,
    });
    const csv = (await act(own, { action: 'read_private', resource: 'book/export', payload: { limit: 1 } })).body.read;
    expect(csv).toMatchObject({ format: 'csv', truncated: true, next: tasks[0] });
  });

  it('/act 400 without a time, and where payload_hash is another’s', async () => {
    const { action, resource, signature } = await signAct(bound, read);
    const body = { action, resource, signature };
    expect((await service.post(at(bound.delegation_hash, 'act'), body)).status).toBe(400);
    expect(await act(bound, read, { payload_hash: hex32() })).toMatchObject({
      status: 400,
      body: { code: 'payload_mismatch' },
    });
  });

  it.each([
    ['action', 'redeem'],
    ['resource', 'book/export'],
    ['nonce', hex32()],
    // Evaluated when the file is loaded, so it is far enough from the deadline that is signed later.
    ['deadline', nowSeconds() + 290],
    ['payload', { limit: 3 }],
  ])('/act 401 act_signature_invalid with another %s', async (member, value) => {
    const answer = await act(bound, { ...read, deadline: nowSeconds() + 190 }, { [member]: value } as JsonObject);
    expect(answer).toMatchObject({ status: 401, body: { code: 'act_signature_invalid' } });
  });

  it('/act 401 act_signature_invalid with another target_agent', async () => {
    const handOff = { action: 'handoff', resource: `receipt/${bought}`, target_agent: 7 };
    expect(await act(bound, handOff, { target_agent: 8 })).toMatchObject({
      status: 401,
      body: { code: 'act_signature_invalid' },
    });
  });

  it.each([
    ['read_private', 'book'],
    ['redeem', `receipt/task_${'0'.repeat(26)}`],
    ['approve', `call/${'0'.repeat(64)}`],
  ])(
    '/act 400 for a target_agent of %s, which takes none: the act can be signed again with the same nonce',
    async (action, resource) => {
      const session = await newSession(owner);
      await service.buy(owner.account, ask('Bound to act'), session.headers);
      const nonce = hex32();
      expect(await act(session, { action, resource, nonce, target_agent: owner.agent_id })).toMatchObject({
        status: 400,
        body: { code: 'invalid_request', error: { param: 'target_agent' } },
      });
      expect((await act(session, { ...read, nonce })).status).toBe(200);
      expect((await act(session, { ...read }, { target_agent: 0 })).status).toBe(200);
    },
  );

  it('/act 401 act_expired at its deadline, beyond 300 s, and by a challenge of another session', async () => {
    for (const deadline of [nowSeconds() - 1, nowSeconds() + 330])
      expect(await act(bound, { ...read, deadline })).toMatchObject({ status: 401, body: { code: 'act_expired' } });
    const other = await newSession(owner);
    await service.buy(owner.account, ask('Another session'), other.headers);
    const { body } = await service.post<{ challenge_id: string; nonce: string; deadline: number }>(
      at(other.delegation_hash, 'challenge'),
      {},
    );
    const { challenge_id, nonce, deadline } = body;
    expect(await act(bound, { ...read, challenge_id, nonce, deadline })).toMatchObject({
      status: 401,
      body: { code: 'act_expired' },
    });
  });

  it('/act 404 for what is not its own, and for a session that is none', async () => {
    expect((await act(bound, { ...read, resource: `receipt/${owner.task_id}` })).status).toBe(404);
    expect((await act(bound, { ...read, resource: 'board' })).status).toBe(404);
    // An act on a missing resource does not use up its nonce.
    const absent = await signAct(bound, { ...read, resource: 'receipt/task_absent' });
    for (let time = 0; time < 2; time++)
      expect((await service.post(at(bound.delegation_hash, 'act'), absent)).status).toBe(404);
    expect((await service.post(at(nobody, 'act'), await signAct(bound, read))).status).toBe(404);
  });

  it('/act 409 act_nonce_used the second time', async () => {
    const body = await signAct(bound, read);
    const statuses = [];
    for (let time = 0; time < 2; time++)
      statuses.push((await service.post(at(bound.delegation_hash, 'act'), body)).status);
    expect(statuses).toEqual([200, 409]);
  });

  it('/act 200 once of 1,000 that race with one nonce', async () => {
    const body = await signAct(bound, read);
    const path = at(bound.delegation_hash, 'act');
    const statuses: number[] = [];
    const racer = async () => {
      for (let turn = 0; turn < 10; turn++) statuses.push((await service.post(path, body)).status);
    };
    await Promise.all(Array.from({ length: 100 }, racer));
    expect(statuses.filter(status => status === 200)).toHaveLength(1);
    expect(statuses.filter(status => status === 409)).toHaveLength(999);
  });

  const { hand_offs_per_receipt_max: max, hand_offs_per_session_hour_max: hourly } = sessionLimits;
  /** A receipt that was handed to the maximum number of agents, and four further agents. */
  async function handedToMany() {
    const giver = await service.newAgent();
    const theirs = await newSession(giver);
    const { task_id } = (await service.buy(giver.account, ask('Handed to many'), theirs.headers)).body.svc;
    const targets = await Promise.all(Array.from({ length: max + 4 }, () => service.newAgent()));
    const resource = `receipt/${task_id}`;
    const handOff = (target_agent: number) => act(theirs, { action: 'handoff', resource, target_agent });
    const heard = await Promise.all(targets.map(({ agent_id }) => handOff(agent_id)));
    return { theirs, targets, handOff, heard };
  }

  it('/act handoff: 409 handed_off_too_often to all beyond eight of twelve agents who are given one receipt at once, which counts for nothing', async () => {
    const { theirs, heard } = await handedToMany();
    const refused = { status: 409, body: { code: 'handed_off_too_often' } };
    expect(heard.filter(({ status }) => status === 200)).toHaveLength(max);
    for (const answer of heard.filter(({ status }) => status !== 200)) expect(answer).toMatchObject(refused);
    const counted = 'select uses from session_use where holder = $1';
    const uses = await service.query(counted, [`handoff:${theirs.delegation_hash}`]);
    expect(uses.reduce((sum, row) => sum + Number(row.uses), 0)).toBe(max);
  });

  it('/act handoff: 409 already_handed_off to one of the eight who have the receipt', async () => {
    const { targets, handOff, heard } = await handedToMany();
    const [known] = targets.filter((_, index) => heard[index]?.status === 200);
    expect(await handOff(known?.agent_id ?? 0)).toMatchObject({ status: 409, body: { code: 'already_handed_off' } });
  });

  it('/act handoff: 429 rate_limited with Retry-After beyond sixty in an hour by one session', async () => {
    const [giver, target] = [await service.newAgent(), await service.newAgent()];
    const theirs = await newSession(giver);
    const { task_id } = (await service.buy(giver.account, ask('Handed to nobody yet'), theirs.headers)).body.svc;
    const handOff = () =>
      act(theirs, { action: 'handoff', resource: `receipt/${task_id}`, target_agent: target.agent_id });
    // Sets the number of uses in this hour and the next one, in case this hour ends now.
    const used = (uses: number) =>
      service.query(
        `insert into session_use (holder, period, uses)
          select $1, date_trunc('hour', now(), 'UTC') + n * interval '1 hour', $2 from generate_series(0, 1) n
          on conflict (holder, period) do update set uses = excluded.uses`,
        [`handoff:${theirs.delegation_hash}`, uses],
      );
    await used(hourly);
    const limited = await handOff();
    expect(limited).toMatchObject({ status: 429, body: { code: 'rate_limited' } });
    expect(Number(limited.headers.get('Retry-After'))).toBeGreaterThan(0);
    await used(hourly - 1);
    expect((await handOff()).status).toBe(200);
  });

  it('/act handoff: a child receipt for another agent, whose book gains a row by redeeming it alone, once', async () => {
    const target = await service.newAgent();
    const theirs = await newSession(target);
    await service.buy(target.account, ask('Bound by the target'), theirs.headers);
    const resource = `receipt/${bought}`;
    const handed = await act(bound, { action: 'handoff', resource, target_agent: target.agent_id });
    expect(handed).toMatchObject({
      status: 200,
      body: { receipt: { parent_receipt_id: bought, target_agent: target.agent_id } },
    });
    const { task_id } = handed.body.receipt as { task_id: string };
    const receipt = await receiptOf(task_id);
    expect(receipt).toMatchObject({
      parent_receipt_id: bought,
      target_agent: target.agent_id,
      payment_ref: null,
      proof_outcome: 'none',
      settled_by: null,
    });
    expect(receipt).not.toHaveProperty('amount');
    expect(receipt).not.toHaveProperty('claim_id');
    const again = await act(bound, { action: 'handoff', resource, target_agent: target.agent_id });
    expect(again).toMatchObject({ status: 409, body: { code: 'already_handed_off', task_id } });
    expect((await act(bound, { action: 'handoff', resource, target_agent: 999_999 })).status).toBe(404);
    const rows = async () => {
      const { body } = await service.get<{ entries: JsonObject[] }>(`/v1/agents/${target.agent_id}/book`, {
        'X-SVC-Session': target.session,
      });
      return body.entries.filter(entry => entry.task_id === task_id);
    };
    expect(await rows()).toEqual([]);
    // Only the target may redeem it, not the giver.
    expect((await act(bound, { action: 'redeem', resource: `receipt/${task_id}` })).status).toBe(404);
    const redeemed = await act(theirs, { action: 'redeem', resource: `receipt/${task_id}` });
    expect(redeemed).toMatchObject({ status: 200, body: { redeemed: { task_id, agent_id: target.agent_id } } });
    expect(await rows()).toMatchObject([
      { evidence: 'UNVERIFIED', collected: false, payment: { ref: null, amount: null }, parent_ref: bought },
    ]);
    const twice = await act(theirs, { action: 'redeem', resource: `receipt/${task_id}` });
    expect(twice).toMatchObject({ status: 409, body: { code: 'claim_already_settled' } });
  });

  it('/act redeem: the row follows from the receipt that was handed on, of whose book nothing else is shown', async () => {
    const target = await service.newAgent();
    const theirs = await newSession(target);
    await service.buy(target.account, ask('Bound before it follows'), theirs.headers);
    const handed = await act(bound, {
      action: 'handoff',
      resource: `receipt/${bought}`,
      target_agent: target.agent_id,
    });
    const { task_id } = handed.body.receipt as { task_id: string };
    await act(theirs, { action: 'redeem', resource: `receipt/${task_id}` });
    const headers = { 'X-SVC-Session': target.session };
    const book = `/v1/agents/${target.agent_id}/book`;
    const elsewhere = { task_id: bought, depth: 1, on_other_book: true };
    expect((await service.get(`${book}/lineage/${task_id}`, headers)).body).toMatchObject({
      self: { task_id, parent_ref: bought, on_other_book: false, evidence: 'UNVERIFIED' },
      root: null,
      ancestors: [elsewhere],
      truncated: false,
    });
    const { ancestors } = (await service.get<{ ancestors: JsonObject[] }>(`${book}/lineage/${task_id}`, headers)).body;
    expect(ancestors).toEqual([elsewhere]);
    // A row that follows from it on this book has the same parent at its end.
    const next = (await service.buy(target.account, ask('Follows from it'), { 'X-SVC-Parent': task_id })).body.svc;
    expect((await service.get(`${book}/lineage/${next.task_id}`, headers)).body).toMatchObject({
      root: null,
      ancestors: [
        { task_id, on_other_book: false },
        { ...elsewhere, depth: 2 },
      ],
    });
    const shown = await onGraph<{ lineage: JsonObject }>(
      service,
      `query ($agentId: Int!, $taskId: String!) {
        lineage(agentId: $agentId, taskId: $taskId) { root { taskId } ancestors { taskId seq evidence amount onOtherBook } }
      }`,
      { agentId: target.agent_id, taskId: task_id },
      target.session,
    );
    expect(shown.data?.lineage).toEqual({
      root: null,
      ancestors: [{ taskId: bought, seq: null, evidence: null, amount: null, onOtherBook: true }],
    });
    const exported = await service.get<{ rows: JsonObject[] }>(`${book}/export?format=json`, headers);
    expect(exported.body.rows.find(row => row.task_id === task_id)).toMatchObject({ parent_ref: bought });
  });

  it('/act redeem closes the claim of an own receipt once', async () => {
    const session = await newSession(owner);
    const { task_id } = (await service.buy(owner.account, ask('To be closed'), session.headers)).body.svc;
    const redeem = () => act(session, { action: 'redeem', resource: `receipt/${task_id}` });
    expect(await redeem()).toMatchObject({ status: 200, body: { redeemed: { task_id, agent_id: null } } });
    expect(await redeem()).toMatchObject({ status: 409, body: { code: 'claim_already_settled' } });
  });

  it('/act 403 approval_ttl_expired where the book holds it for risky and no challenge was asked for', async () => {
    const agent = await service.newAgent();
    const session = await newSession(agent);
    await service.buy(agent.account, ask('Risky'), session.headers);
    const body = { policy_type: 'risk_tiers', value: { high: ['read_private'], low: [] } };
    await service.post(`/v1/agents/${agent.agent_id}/book/policy`, body, { 'X-SVC-Session': agent.session });
    expect(await act(session, read)).toMatchObject({ status: 403, body: { code: 'approval_ttl_expired' } });
    const challenge = await service.post<{ challenge_id: string; nonce: string; deadline: number }>(
      at(session.delegation_hash, 'challenge'),
      {},
    );
    const { challenge_id, nonce, deadline } = challenge.body;
    expect((await act(session, { ...read, challenge_id, nonce, deadline })).status).toBe(200);
  });
});
