import { beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { payingFetch, registrationOf } from '../harness/buyer.ts';
import { insertPost } from '../harness/doors/board-posts.ts';
import { ask, CHAT } from '../harness/doors/open-service.ts';
import { auditBooks } from '../harness/faults/audit-books.ts';
import { auditLog } from '../harness/faults/audit-log.ts';
import { type Ground, openGround } from '../harness/faults/ground.ts';
import { type Cut, type DatabaseProxy, startDatabaseProxy } from '../harness/faults/wire.ts';
import { type DelegatedSession, signAct, signRevocation } from '../harness/session/delegate.ts';
import { type BoundSession, bindChild, bindRoot, payUnder, sessionPath } from '../harness/session/trees.ts';
import type { RunningService } from '../harness/worker-gateway.ts';

/*
 * A process is killed at the commit of an act's effect. Either the server never received the commit, or the effect is stored and no client
 * got the answer. If the session's key or its payer repeats the act, there must be one effect and not two.
 */

let ground: Ground;
let wire: DatabaseProxy;
let healthy: RunningService;
beforeAll(async () => {
  ground = await openGround();
  wire = await startDatabaseProxy(ground.database_url);
  healthy = await ground.start();
});

const commits = [
  ['before', 'lost'],
  ['after', 'done'],
] as const;

/** Sends the request to a process that dies at the commit of the transaction with that statement. */
async function tellDying(
  statement: string,
  commit: Cut['commit'],
  path: string,
  body: object,
  headers: object = {},
): Promise<void> {
  const dying = await ground.startDying({ url: wire.url });
  wire.cutNext({ statement, commit }, { at_cut: () => dying.kill() });
  await expect(post(path, body, { at: dying, headers })).rejects.toThrow();
  await dying.died;
}

interface ActOptions {
  readonly at?: Pick<RunningService, 'url'>;
  readonly by?: typeof fetch;
  readonly headers?: object;
}

async function post(path: string, body: object, { at = healthy, by = fetch, headers = {} }: ActOptions = {}) {
  const typed = { 'content-type': 'application/json', ...headers };
  const answer = await by(at.url + path, { method: 'POST', headers: typed, body: JSON.stringify(body) });
  return { status: answer.status, body: (await answer.json()) as JsonObject };
}

async function get(path: string, headers: Record<string, string> = {}, at: Pick<RunningService, 'url'> = healthy) {
  return (await (await fetch(at.url + path, { headers })).json()) as JsonObject;
}

async function newAgent() {
  const account = await ground.chain.newWallet();
  const { body } = await post('/v1/agents/register', await registrationOf(account), { by: payingFetch(account) });
  return { account, agent_id: Number(body.agent_id), session: String(body.session) };
}

const place = () => ({ url: healthy.url, chain: ground.chain });
const acting = ({ delegation_hash }: DelegatedSession) => sessionPath(delegation_hash, 'act');
const count = async (text: string, value: unknown) => (await ground.database.query({ text, values: [value] })).length;

/** A receipt that was handed to an agent, whose session can redeem it. */
async function handedOn(): Promise<{ readonly theirs: BoundSession; readonly task_id: string }> {
  const [giver, target] = [await ground.chain.newWallet(), await newAgent()];
  const [ours, theirs] = [await bindRoot(healthy, giver), await bindRoot(healthy, target.account)];
  const resource = `receipt/${ours.task_id}`;
  const act = await signAct(ours, { action: 'handoff', resource, target_agent: target.agent_id });
  const { body } = await post(acting(ours), act);
  return { theirs, task_id: (body.receipt as { readonly task_id: string }).task_id };
}

describe.each(commits)('a process killed %s the commit', (point, commit) => {
  it('of `redeem`: the claim of the receipt closes once, and its book has one row of it', async () => {
    const { theirs, task_id } = await handedOn();
    const redeem = () => signAct(theirs, { action: 'redeem', resource: `receipt/${task_id}` });
    const standing = async () => [
      await count('select 1 from redemption where task_id = $1', task_id),
      await count('select 1 from book_row where task_id = $1', task_id),
      await count('select 1 from act_use where delegation_hash = $1', theirs.delegation_hash),
    ];
    const body = await redeem();
    await tellDying('close claim of receipt', commit, acting(theirs), body);
    expect(await standing()).toEqual(point === 'before' ? [0, 0, 0] : [1, 1, 1]);
    const again = await post(acting(theirs), body);
    if (point === 'before') expect(again).toMatchObject({ status: 200, body: { redeemed: { task_id } } });
    else expect(again).toMatchObject({ status: 409, body: { code: 'act_nonce_used' } });
    expect(await post(acting(theirs), await redeem())).toMatchObject({
      status: 409,
      body: { code: 'claim_already_settled' },
    });
    expect(await standing()).toEqual([1, 1, 1]);
  });

  it('of `handoff` under an Idempotency-Key: both stand or neither, and the same request hands on once', async () => {
    const [giver, target] = [await ground.chain.newWallet(), await newAgent()];
    const ours = await bindRoot(healthy, giver);
    const resource = `receipt/${ours.task_id}`;
    const body = await signAct(ours, { action: 'handoff', resource, target_agent: target.agent_id });
    const headers = { 'Idempotency-Key': `handed-on-${point}` };
    const standing = async () => [
      await count('select 1 from hand_off where parent_task_id = $1', ours.task_id),
      await count('select 1 from act_use where delegation_hash = $1', ours.delegation_hash),
    ];
    const keys = () => ground.database.query({ text: 'select 1 from written_once where answer_box is null' });
    const before = (await keys()).length;
    await tellDying('keep hand-off', commit, acting(ours), body, headers);
    expect(await standing()).toEqual(point === 'before' ? [0, 0] : [1, 1]);
    expect(await keys()).toHaveLength(point === 'before' ? before : before + 1);
    const again = await post(acting(ours), body, { headers });
    if (point === 'before') {
      expect(again.status).toBe(200);
      expect(await post(acting(ours), body, { headers })).toEqual(again);
    } else expect(again).toMatchObject({ status: 409, body: { code: 'idempotency_key_in_flight' } });
    expect(await standing()).toEqual([1, 1]);
  });

  it('of a like under an Idempotency-Key, after it was counted: the same request likes once, and never takes it back', async () => {
    const agent = await newAgent();
    const query = (text: string, values: unknown[] = []) => ground.database.query({ text, values });
    const post_id = await insertPost({ url: healthy.url, query } as never, { agent_id: agent.agent_id });
    const headers = { 'X-SVC-Session': agent.session, 'Idempotency-Key': `liked-${point}` };
    const path = `/v1/board/posts/${post_id}/like`;
    await tellDying('toggle board like', commit, path, {}, headers);
    const again = await post(path, {}, { headers });
    if (point === 'before') expect(again).toMatchObject({ status: 200, body: { liked: true } });
    else expect(again).toMatchObject({ status: 409, body: { code: 'idempotency_key_in_flight' } });
    expect(await count('select 1 from board_like where post_id = $1', post_id)).toBe(1);
  });

  it('of a revocation: it is listed or it is not, without a gap, and the same request ends the session', async () => {
    const payer = await ground.chain.newWallet();
    const session = await bindRoot(healthy, payer);
    const [path, revoking] = [sessionPath(session.delegation_hash), sessionPath(session.delegation_hash, 'revoke')];
    const body = await signRevocation(payer, session.delegation_hash);
    await tellDying('keep session revocation', commit, revoking, body);

    const restarted = await ground.start();
    const listed = async () => {
      const { sessions } = await get('/.well-known/revocations', {}, restarted);
      return sessions as { readonly seq: number; readonly delegation_hash: string }[];
    };
    const mine = async () =>
      (await listed()).filter(({ delegation_hash }) => delegation_hash === session.delegation_hash);
    const before = await mine();
    expect(before).toHaveLength(point === 'before' ? 0 : 1);
    expect((await get(path, {}, restarted)).status).toBe(point === 'before' ? 'active' : 'revoked');
    const again = await post(revoking, body, { at: restarted });
    expect(again).toMatchObject({ status: 200, body: { payer: payer.address, at: body.at } });
    const stands = await mine();
    expect(stands).toHaveLength(1);
    // A revocation that was stored before remains, with its time and its number.
    if (point === 'after') expect(stands).toEqual(before);
    const numbers = (await listed()).map(({ seq }) => seq);
    expect(numbers).toEqual(numbers.map((_, index) => numbers.length - index));
    const act = await signAct(session, { action: 'read_private', resource: 'book' });
    expect(await post(acting(session), act)).toMatchObject({ status: 403, body: { code: 'session_not_active' } });
  });

  it('of `approve`: the call passes once, whether the answer came or was lost', async () => {
    const agent = await newAgent();
    const parent = await bindRoot(healthy, agent.account);
    const child = await bindChild(place(), parent, agent.account);
    const { agent_id, session } = agent;
    const policy = { session, policy_type: 'tier2_above', value: '1000' };
    expect((await post(`/v1/agents/${agent_id}/book/policy`, policy)).status).toBe(200);
    const content = `Killed ${point} it was approved`;
    const buy = () => post(CHAT, ask(content), { by: payingFetch(agent.account), headers: child.headers });
    const newest = async () => {
      const { approvals } = await get(`/v1/agents/${agent_id}/book/approvals`, { 'X-SVC-Session': session });
      return (approvals as JsonObject[])[0];
    };
    expect((await buy()).status).toBe(403);
    const request = await newest();
    const body = await signAct(parent, { action: 'approve', resource: `call/${request?.request_hash}` });
    await tellDying('answer approval request', commit, acting(parent), body);

    const { approval_id } = request as JsonObject;
    expect(await newest()).toMatchObject({ approval_id, status: point === 'before' ? 'open' : 'approved' });
    const again = await post(acting(parent), body);
    if (point === 'before') expect(again).toMatchObject({ status: 200, body: { approved: { approval_id } } });
    else expect(again).toMatchObject({ status: 409, body: { code: 'act_nonce_used' } });
    expect(
      await count(
        `select 1 from book_event where kind = 'approval' and body::jsonb->>'status' = 'approved'
          and body::jsonb->>'approval_id' = $1`,
        approval_id,
      ),
    ).toBe(1);
    await payUnder(healthy, child, content);
    expect((await buy()).status).toBe(403);
    expect((await newest())?.approval_id).not.toBe(approval_id);
  });
});

it('leaves books and a log that add up', async () => {
  await auditBooks(ground.database);
  await auditLog(ground.database, ground.saved_head);
});
