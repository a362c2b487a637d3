import { beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { type Service, sharedService } from '../harness/doors/open-service.ts';
import { delegate, signAct } from '../harness/session/delegate.ts';
import {
  type BoundSession,
  bindChild,
  bindRoot,
  newKey,
  payUnder,
  revoke,
  sessionPath,
} from '../harness/session/trees.ts';

/* What a principal sees of the sessions that its wallet has granted, by REST only. */

type Agent = Awaited<ReturnType<Service['newAgent']>>;

let service: Service;
let owner: Agent;
let root: BoundSession;
let child: BoundSession;
beforeAll(async () => {
  service = await sharedService();
  owner = await service.newAgent();
  root = await bindRoot(service, owner.account, { capAtomic: '10000' });
  child = await bindChild(service, root);
});

const by = ({ session }: Pick<Agent, 'session'>) => ({ 'X-SVC-Session': session });
const read = (session: BoundSession, headers = {}) =>
  service.get<JsonObject>(sessionPath(session.delegation_hash), headers);
const limits = { cap: '10000', models: [], doors: [] };

describe('GET /v1/sessions/{delegation_hash}', () => {
  it('200 with limits and sums to the payer, also of a session above; to everybody else without', async () => {
    const own = { ...limits, spent: '4000', held: '0', remaining: '6000' };
    expect((await read(root, by(owner))).body).toMatchObject({ status: 'active', detail: own });
    expect((await read(child, by(owner))).body).toMatchObject({ detail: { spent: '2000', remaining: '8000' } });
    const named = { models: ['alpha-1', 'svc/auto'], doors: ['chat_completions', 'pay_job'] };
    const narrow = await bindRoot(service, owner.account, named);
    expect((await read(narrow, by(owner))).body).toMatchObject({ detail: named });
    const stranger = await service.newAgent();
    for (const headers of [{}, by(stranger)])
      expect((await read(root, headers)).body).toMatchObject({ status: 'active', detail: null });
  });

  it('403 with a session that opens no book, and is kept by nobody where one came along', async () => {
    expect((await read(root, { 'X-SVC-Session': 'svcs_nobody' })).status).toBe(403);
    expect((await read(root, by(owner))).headers.get('cache-control')).toContain('no-store');
  });

  it('shows the session’s key the same by the act read_private on `session`, once for each act', async () => {
    const path = sessionPath(root.delegation_hash, 'act');
    const act = await signAct(root, { action: 'read_private', resource: 'session' });
    const { status, body } = await service.post<JsonObject>(path, act);
    const { bound_at: _, ended_by: __, ...shown } = (await read(root, by(owner))).body;
    expect([status, body.read]).toEqual([200, shown]);
    expect(await service.post(path, act)).toMatchObject({ status: 409, body: { code: 'act_nonce_used' } });
  });
});

describe('GET /v1/agents/{agent_id}/sessions', () => {
  const list = (agent: Agent, query = '') =>
    service.get<{ sessions: JsonObject[]; truncated: boolean; next_cursor: string | null }>(
      `/v1/agents/${agent.agent_id}/sessions${query}`,
      by(agent),
    );

  it('200: the sessions that the wallet has granted itself, newest first, page by page; no child, none of others', async () => {
    const agent = await service.newAgent();
    const bound = [];
    for (let number = 0; number < 3; number++) bound.push(await bindRoot(service, agent.account));
    const [first] = bound as [BoundSession];
    await bindChild(service, first, agent.account);
    await delegate(agent.account, agent.account, newKey());
    const names = bound.map(({ delegation_hash }) => delegation_hash).toReversed();
    const whole = await list(agent);
    expect(whole.body.sessions.map(({ delegation_hash }) => delegation_hash)).toEqual(names);
    expect(whole.body).toMatchObject({ truncated: false, next_cursor: null });
    expect(whole.body.sessions.at(-1)).toMatchObject({ status: 'active', detail: { spent: '4000', cap: '1000000' } });
    const page = await list(agent, '?limit=2');
    expect(page.body).toMatchObject({ truncated: true, next_cursor: expect.any(String) });
    const rest = await list(agent, `?limit=2&cursor=${page.body.next_cursor}`);
    const pages = [...page.body.sessions, ...rest.body.sessions];
    expect(pages.map(({ delegation_hash }) => delegation_hash)).toEqual(names);
    expect(rest.body).toMatchObject({ truncated: false, next_cursor: null });
    await revoke(service, agent.account, first);
    expect((await list(agent)).body.sessions.at(-1)).toMatchObject({
      status: 'revoked',
      ended_by: { delegation_hash: first.delegation_hash },
    });
  });

  it('400 of a cursor that is none of ours, a limit that is none, and a member that is not known', async () => {
    for (const query of ['?cursor=1', '?limit=0', '?status=active'])
      expect(await list(owner, query)).toMatchObject({ status: 400, body: { code: 'invalid_request' } });
  });
});

it('what is spent moves with each payment', async () => {
  await payUnder(service, root, 'One more under the root');
  await payUnder(service, child, 'One more under the child');
  expect((await read(root, by(owner))).body).toMatchObject({ detail: { spent: '8000', remaining: '2000' } });
});
