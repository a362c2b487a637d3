import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { beforeAll, expect, it } from 'vitest';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { payingFetch, registrationOf } from '../harness/buyer.ts';
import { audit } from '../harness/faults/audit.ts';
import { eventually, type Ground, openGround } from '../harness/faults/ground.ts';
import { type DelegatedSession, delegate, signAct } from '../harness/session/delegate.ts';
import type { RunningService } from '../harness/worker-gateway.ts';

/*
 * An act and its effect are stored together or not at all, and a payment under a session is counted once, regardless of which process dies.
 */

let ground: Ground;
let healthy: RunningService;
let owner: Awaited<ReturnType<Ground['chain']['newWallet']>>;
let session: DelegatedSession;
let bought: string;
let target_agent: number;
beforeAll(async () => {
  ground = await openGround();
  healthy = await ground.start();
  owner = await ground.chain.newWallet();
  session = await delegate(owner, owner, privateKeyToAccount(generatePrivateKey()));
  bought = (await buy(healthy, 'Bound')).task_id;
  const registered = await post(healthy, '/v1/agents/register', await registrationOf(owner), payingFetch(owner));
  target_agent = Number(registered.body.agent_id);
});

type At = Pick<RunningService, 'url'>;

async function post(
  { url }: At,
  path: string,
  body: unknown,
  by: typeof fetch | ReturnType<typeof payingFetch> = fetch,
  headers = {},
) {
  const sent = {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  };
  const answer = await by(url + path, sent);
  return { status: answer.status, body: (await answer.json()) as JsonObject };
}

async function buy(at: At, content: string) {
  const body = { model: 'test/model', messages: [{ role: 'user', content }] };
  const answer = await post(at, '/v1/chat/completions', body, payingFetch(owner), session.headers);
  expect(answer.status).toBe(200);
  return answer.body.svc as { readonly task_id: string };
}

async function standing() {
  const [row] = await ground.database.query<{ acts: number; handed: number; receipts: number; spent: bigint }>({
    text: `select (select count(*)::int from act_use) as acts, (select count(*)::int from hand_off) as handed,
      (select count(*)::int from receipt) as receipts, (select spent_atomic from delegation) as spent`,
  });
  if (!row) throw new Error('a count is one row');
  return row;
}

it.each(['before_record', 'in_record'] as const)(
  'an act whose process is killed %s leaves nothing, and passes once sent again',
  async point => {
    const before = await standing();
    const dying = await ground.startDying({ plan: { point } });
    const act = { action: 'handoff', resource: `receipt/${bought}`, target_agent };
    const path = `/v1/sessions/${session.delegation_hash}/act`;
    const body = await signAct(session, act);
    await post(dying, path, body).catch(() => {});
    await dying.died;
    expect(await standing()).toEqual(before);
    // Sends the same signed act again, with the same nonce.
    const again = await post(healthy, path, body);
    expect(again.status).toBe(200);
    expect(await standing()).toMatchObject({
      acts: before.acts + 1,
      handed: before.handed + 1,
      receipts: before.receipts + 1,
    });
    bought = (await buy(healthy, `For the next one, after ${point}`)).task_id;
  },
);

it('a call whose process is killed between settlement and record is recorded under its session, and counted once', async () => {
  const before = await standing();
  const dying = await ground.startDying({ plan: { point: 'before_record' } });
  await buy(dying, 'Killed').catch(() => {});
  await dying.endLease();
  const after = await eventually('it is recorded', async () => {
    const now = await standing();
    return now.receipts > before.receipts ? now : null;
  });
  expect(after).toMatchObject({ receipts: before.receipts + 1, spent: before.spent + 2_000n });
  const [last] = await ground.database.query<{ payload: string }>({
    text: 'select payload from receipt order by leaf_index desc limit 1',
  });
  expect(JSON.parse(last?.payload ?? '{}')).toMatchObject({
    delegation_hash: session.delegation_hash,
    caller_binding: { agent_pubkey: session.grant.agentPubkey },
  });
  expect(await audit(ground)).toBeGreaterThan(0);
});
