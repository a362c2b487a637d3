import { beforeAll, expect, it } from 'vitest';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { payingFetch, registrationOf } from '../harness/buyer.ts';
import { type ApprovalAnswer, walletAnswerTo } from '../harness/doors/approvals.ts';
import { audit } from '../harness/faults/audit.ts';
import { eventually, type Ground, openGround } from '../harness/faults/ground.ts';
import type { RunningService } from '../harness/worker-gateway.ts';

/* A call whose process is killed either returns its approval or uses it, never both. */

let ground: Ground;
let healthy: RunningService;
let wallet: Awaited<ReturnType<Ground['chain']['newWallet']>>;
let agent: { readonly agent_id: number; readonly session: string };
beforeAll(async () => {
  ground = await openGround();
  healthy = await ground.start();
  wallet = await ground.chain.newWallet();
  const registered = await post(healthy, '/v1/agents/register', await registrationOf(wallet), payingFetch(wallet));
  agent = registered.body as unknown as typeof agent;
  const { agent_id, session } = agent;
  for (const [policy_type, value] of Object.entries({ tier2_above: '1999', approval_ttl: 600 }))
    expect((await post(healthy, `/v1/agents/${agent_id}/book/policy`, { session, policy_type, value })).status).toBe(
      200,
    );
});

type At = Pick<RunningService, 'url'>;

async function post(
  { url }: At,
  path: string,
  body: unknown,
  by: typeof fetch | ReturnType<typeof payingFetch> = fetch,
) {
  const sent = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
  const answer = await by(url + path, sent);
  return { status: answer.status, body: (await answer.json()) as JsonObject };
}

const buy = (at: At, content: string) =>
  post(at, '/v1/chat/completions', { model: 'test/model', messages: [{ role: 'user', content }] }, payingFetch(wallet));

async function newest(): Promise<ApprovalAnswer> {
  const headers = { 'X-SVC-Session': agent.session };
  const answer = await fetch(`${healthy.url}/v1/agents/${agent.agent_id}/book/approvals`, { headers });
  const { approvals } = (await answer.json()) as { approvals: ApprovalAnswer[] };
  return approvals[0] as ApprovalAnswer;
}

/** A call that was refused and then approved by its wallet. */
async function approved(content: string): Promise<ApprovalAnswer> {
  expect((await buy(healthy, content)).status).toBe(403);
  const request = await newest();
  const path = `/v1/agents/${agent.agent_id}/book/approvals/${request.approval_id}`;
  expect((await post(healthy, path, await walletAnswerTo('http://svc.test', wallet, request))).status).toBe(200);
  return request;
}

const receipts = async () =>
  (await ground.database.query<{ count: number }>({ text: 'select count(*)::int as count from receipt' }))[0]?.count ??
  0;

it.each(['in_claim', 'after_claim', 'after_work'] as const)(
  'killed %s, before anything was sent: it is given back, and passes the same call once',
  async point => {
    const content = `Killed ${point}`;
    const { approval_id } = await approved(content);
    const before = await receipts();
    const dying = await ground.startDying({ plan: { point } });
    await buy(dying, content).catch(() => {});
    await dying.endLease();
    await eventually('it is given back', async () => ((await newest()).status === 'approved' ? true : null));
    expect((await buy(healthy, content)).status).toBe(200);
    expect(await newest()).toMatchObject({ approval_id, status: 'passed' });
    expect((await buy(healthy, content)).status).toBe(403);
    expect(await receipts()).toBe(before + 1);
  },
);

it.each(['after_settling', 'before_record', 'in_record'] as const)(
  'killed %s, once it may be paid for: it is used, and passes no other call',
  async point => {
    const content = `Killed ${point}`;
    const { approval_id } = await approved(content);
    const before = await receipts();
    const dying = await ground.startDying({ plan: { point } });
    await buy(dying, content).catch(() => {});
    await dying.died;
    // The status is the same before and after the call is recorded.
    expect(await newest()).toMatchObject({ approval_id, status: 'passed' });
    expect((await buy(healthy, content)).status).toBe(403);
    await dying.endLease();
    await eventually('it is recorded', async () => ((await receipts()) > before ? true : null));
    expect((await buy(healthy, content)).status).toBe(403);
    expect(await receipts()).toBe(before + 1);
  },
);

it('leaves books that add up', async () => {
  expect(await audit(ground)).toBeGreaterThan(0);
});
