import { beforeAll, expect, it } from 'vitest';
import type { JsonObject } from '../../../../schema/canonical-json.ts';
import { payingFetch, registrationOf } from '../../../harness/buyer.ts';
import { ask } from '../../../harness/doors/open-service.ts';
import { openSocket } from '../../../harness/doors/socket.ts';
import { openRemoteGraph, type RemoteGraph } from '../../../harness/graph/remote/processes.ts';
import { signAct } from '../../../harness/session/delegate.ts';
import {
  bindChild,
  bindRoot,
  followBurn,
  followBurnInEvents,
  payUnder,
  revoke,
  sessionPath,
} from '../../../harness/session/trees.ts';

/* What is sold and what sessions are, as processes of their own: a grant goes with its payment to the one, and acts to the other. */

type Account = Parameters<typeof bindRoot>[1];

let service: RemoteGraph;
let account: Account;
let agent: { readonly agent_id: number; readonly session: string };
beforeAll(async () => {
  service = await openRemoteGraph({ remote: ['receipt', 'session'] });
  account = await service.chain.newWallet();
  agent = (await sent('/v1/agents/register', await registrationOf(account), {}, payingFetch(account))).body as never;
});

async function sent(path: string, body: object, headers: Record<string, string> = {}, by = fetch) {
  const typed = { 'content-type': 'application/json', ...headers };
  const answer = await by(service.url + path, { method: 'POST', headers: typed, body: JSON.stringify(body) });
  return { status: answer.status, body: (await answer.json()) as JsonObject };
}

const stateOf = async (hash: string) => (await fetch(service.url + sessionPath(hash))).json();

it('a grant beside a payment binds its session, whose cap holds', async () => {
  const root = await bindRoot(service, account, { capAtomic: '4000' });
  const receipt = await (await fetch(`${service.url}/receipt/${root.task_id}.json`)).json();
  expect(receipt).toMatchObject({ delegation_hash: root.delegation_hash });
  const child = await bindChild(service, root);
  expect(await stateOf(child.delegation_hash)).toMatchObject({
    status: 'active',
    path: [root.delegation_hash, child.delegation_hash],
  });
  const over = await sent('/v1/chat/completions', ask('Over its cap'), child.headers, payingFetch(child.payer));
  expect(over).toMatchObject({ status: 403, body: { code: 'session_cap_exceeded', charged: false } });
  const wrong = { 'X-SVC-Delegation': '{}' };
  expect(await sent('/v1/chat/completions', ask('No grant'), wrong, payingFetch(account))).toMatchObject({
    status: 400,
    body: { code: 'delegation_invalid', charged: false },
  });
});

it('an act is done once, with a nonce that was issued there', async () => {
  const session = await bindRoot(service, account);
  const { body } = await sent(sessionPath(session.delegation_hash, 'challenge'), {});
  const { challenge_id, nonce, deadline } = body as { challenge_id: string; nonce: string; deadline: number };
  const act = await signAct(session, { action: 'read_private', resource: 'book', challenge_id, nonce, deadline });
  const path = sessionPath(session.delegation_hash, 'act');
  expect(await sent(path, act)).toMatchObject({
    status: 200,
    body: { read: { entries: [{ task_id: session.task_id }] } },
  });
  expect(await sent(path, act)).toMatchObject({ status: 409, body: { code: 'act_nonce_used' } });
});

it('what is burnt is told as it is recorded, and ends at once where the session is revoked', async () => {
  const root = await bindRoot(service, account);
  const child = await bindChild(service, root);
  const socket = openSocket(service, { session: agent.session });
  const followers = [followBurn(socket, root), await followBurnInEvents(service, agent.session, child)];
  const paid = await payUnder(service, child, 'Told');
  await expect
    .poll(() => followers.map(({ tasks }) => tasks))
    .toEqual([
      [root.task_id, child.task_id, paid],
      [child.task_id, paid],
    ]);
  await revoke(service, account, root);
  const over = [expect.objectContaining({ extensions: expect.objectContaining({ code: 'session_not_active' }) })];
  await expect.poll(() => followers.map(({ ended }) => ended)).toEqual([over, over]);
  expect(await stateOf(child.delegation_hash)).toMatchObject({
    status: 'revoked',
    ended_by: { delegation_hash: root.delegation_hash },
  });
});
