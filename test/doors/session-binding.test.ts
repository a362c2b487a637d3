import { beforeAll, expect, it } from 'vitest';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { payingFetch } from '../harness/buyer.ts';
import { ask, CHAT, openService, PRICE, type Service } from '../harness/doors/open-service.ts';
import { otherPaidDoors } from '../harness/doors/other-paid-doors.ts';
import { delegate, signAct } from '../harness/session/delegate.ts';
import { newKey, sessionPath, spendingIn } from '../harness/session/trees.ts';

/* A grant is bound by any payment that it is sent with. A receipt that was handed on under a grant backs no post. */

const POSTS = '/v1/board/posts';
const OURS = 'https://gateway.example';
type Agent = Awaited<ReturnType<Service['newAgent']>>;

let service: Service;
let owner: Agent;
beforeAll(async () => {
  // A public base URL, because the endpoint of a post must be on the public internet.
  service = await openService({ BASE_URL: OURS }, { media: true });
  owner = await service.newAgent();
});

const report = () => ({ endpoint: `${OURS}${CHAT}`, outcome: 'success', latency_ms: 12, text: 'It answered.' });

async function pay({ account, session }: Agent, path: string, body: object, headers: object) {
  const typed = body instanceof FormData ? {} : { 'content-type': 'application/json' };
  const sent = body instanceof FormData ? body : JSON.stringify(body);
  const shown = path === POSTS ? { 'x-svc-session': session } : {};
  const answer = await payingFetch(account)(service.url + path, {
    method: 'POST',
    headers: { ...typed, ...shown, ...headers },
    body: sent,
  });
  return { status: answer.status, body: (await answer.json()) as JsonObject };
}

it.each([
  ...otherPaidDoors.map(({ path, request }) => [path, (name: string) => request(owner.account, name)] as const),
  [POSTS, report] as const,
])('POST %s binds the grant beside its payment, and counts under it', async (path, request) => {
  const session = await delegate(owner.account, owner.account, newKey());
  const { status } = await pay(owner, path, request(`Under a grant at ${path}`), session.headers);
  expect([200, 201, 202]).toContain(status);
  const { body } = await service.get(sessionPath(session.delegation_hash));
  expect(body).toMatchObject({ status: 'active', payer: owner.account.address });
  const counted = await spendingIn(service, owner.session, session);
  expect(counted.get(session.delegation_hash)).toEqual({ spentAtomic: String(PRICE), heldAtomic: '0' });
});

it('a receipt that was handed on backs no post, also once it was redeemed', async () => {
  const [target, session] = [await service.newAgent(), await delegate(owner.account, owner.account, newKey())];
  const theirs = await delegate(target.account, target.account, newKey());
  const { svc } = (await service.buy(owner.account, ask('Handed on'), session.headers)).body;
  await service.buy(target.account, ask('Binds the target'), theirs.headers);
  const given = { action: 'handoff', resource: `receipt/${svc.task_id}`, target_agent: target.agent_id };
  const handed = await service.post<{ receipt: { task_id: string } }>(
    sessionPath(session.delegation_hash, 'act'),
    await signAct(session, given),
  );
  const { task_id } = handed.body.receipt;
  const posted = () => pay(target, POSTS, { ...report(), receipt_ref: task_id }, {});
  expect((await posted()).status).toBe(403);
  const redeemed = await signAct(theirs, { action: 'redeem', resource: `receipt/${task_id}` });
  expect((await service.post(sessionPath(theirs.delegation_hash, 'act'), redeemed)).status).toBe(200);
  expect(await posted()).toMatchObject({ status: 403, body: { charged: false } });
});
