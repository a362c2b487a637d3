import { beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { payingFetch } from '../harness/buyer.ts';
import { valueAt } from '../harness/database.ts';
import { bearerOf } from '../harness/doors/assignments.ts';
import { ask, CHAT } from '../harness/doors/open-service.ts';
import { openSocket } from '../harness/doors/socket.ts';
import { send } from '../harness/faults/buyer.ts';
import { type Ground, openGround } from '../harness/faults/ground.ts';
import { type Agent, newAgent, startGateways } from '../harness/gateways/trio.ts';
import { signAct } from '../harness/session/delegate.ts';
import {
  type BoundSession,
  bindChild,
  bindRoot,
  followBurn,
  followBurnInEvents,
  payUnder,
  revoke,
  sessionPath,
} from '../harness/session/trees.ts';
import type { RunningService } from '../harness/worker-gateway.ts';

/*
 * Three processes share one Postgres. A step of an escrow is taken once, regardless of the process that is called, and a session or slice
 * token that was revoked at one process is not accepted at another.
 */

let ground: Ground;
let gateways: readonly RunningService[];
let principal: Agent;
let counterparty: Agent;
let payer: BoundSession['payer'];
let owner: Agent;
const at = (index: number) => gateways[index % gateways.length] as RunningService;
/** Two of the gateways: one in this process, and one that is a separate process. */
const pair = (index: number) => (index === 0 ? at(0) : at(2));
beforeAll(async () => {
  ground = await openGround();
  gateways = await startGateways(ground, 3);
  [principal, counterparty] = [await newAgent(ground, at(0)), await newAgent(ground, at(1))];
  payer = await ground.chain.newWallet();
  owner = await newAgent(ground, at(0), payer);
});

async function a2a(gateway: RunningService, { agent_id, session }: Agent, action: string, body: JsonObject) {
  const answer = await fetch(`${gateway.url}/v1/agents/${agent_id}/book/a2a-escrow`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'X-SVC-Session': session },
    body: JSON.stringify({ action, ...body }),
  });
  return { status: answer.status, body: (await answer.json()) as JsonObject };
}

const rows = (phase: string, job_id: string) =>
  valueAt(
    ground.database_url,
    `select count(*)::int from book_row where evidence = 'a2a_escrow' and facts->'a2a_escrow'->>'phase' = '${phase}'
      and facts->'a2a_escrow'->>'job_id' = '${job_id}'`,
  );

/** Opens an escrow at one gateway and funds it at another. */
async function funded(job_id: string): Promise<void> {
  const order = await principal.chat(job_id);
  const { body } = await send(at(0), order);
  const task_id = (body as unknown as { svc: { task_id: string } }).svc.task_id;
  const terms = {
    job_spec_hash: '0'.repeat(64),
    amount: '2000',
    parties: { counterparty_agent_id: counterparty.agent_id },
  };
  const opened = await Promise.all(gateways.map(gateway => a2a(gateway, principal, 'open', { job_id, ...terms })));
  for (const one of opened) expect(one).toEqual({ status: 201, body: opened[0]?.body });
  const heard = await Promise.all(gateways.map(gateway => a2a(gateway, principal, 'fund', { job_id, task_id })));
  for (const one of heard) expect(one).toEqual({ status: 201, body: heard[0]?.body });
}

describe('a step that is asked for at three processes at once', () => {
  it('is one step, with one row on its book, and all three answer alike', async () => {
    await funded('alike');
    expect(await Promise.all(['open', 'funded'].map(phase => rows(phase, 'alike')))).toEqual([1, 1]);
  });

  it('of two kinds is one of them, and the others hear what is legal now', async () => {
    for (let round = 0; round < 3; round++) {
      const job_id = `race-${round}`;
      await funded(job_id);
      const submission = { fulfillment_receipt_id: '', output_commitment: `sha256:${'0'.repeat(64)}` };
      const bought = await send(at(1), await counterparty.chat(`${job_id} work`));
      submission.fulfillment_receipt_id = (bought.body as unknown as { svc: { task_id: string } }).svc.task_id;
      const claim = { claim_type: 'output_missing' };
      const heard = await Promise.all([
        a2a(at(0), principal, 'clawback', { job_id, ...claim }),
        a2a(at(1), counterparty, 'clawback', { job_id }),
        a2a(at(2), counterparty, 'submit', { job_id, ...submission }),
      ]);
      for (const { status, body } of heard)
        if (status !== 200) expect(body).toMatchObject({ code: 'invalid_escrow_action', legal: expect.any(Array) });
      // An escrow that ended before the counterparty acted is on the principal's book only.
      expect(await rows('clawed_back', job_id)).toBe(heard[0]?.status === 200 ? 1 : 2);
      // If the submission came first, only the counterparty can still give up.
      const won = heard.filter(({ status }) => status === 200).length;
      expect(won).toBe(heard[2]?.status === 200 ? 2 : 1);
    }
  });

  it('of an escrow whose time is over is written by one of their rounds', async () => {
    await funded('over');
    await valueAt(
      ground.database_url,
      `update a2a_escrow set expires_at = clock_timestamp() - interval '1 second' where job_id = 'over'`,
    );
    await expect.poll(() => rows('expired', 'over')).toBe(1);
    for (const gateway of gateways)
      expect((await a2a(gateway, counterparty, 'status', { job_id: 'over' })).body).toMatchObject({ state: 'expired' });
    expect(await rows('expired', 'over')).toBe(1);
  });
});

const assign = () => `/v1/agents/${owner.agent_id}/book/assign`;

async function request(
  gateway: RunningService,
  method: string,
  path: string,
  headers: Record<string, string>,
  body?: unknown,
) {
  const sent = body === undefined ? {} : { body: JSON.stringify(body) };
  const typed = body === undefined ? {} : { 'content-type': 'application/json' };
  const answer = await fetch(gateway.url + path, { method, headers: { ...typed, ...headers }, ...sent });
  const text = await answer.text();
  return { status: answer.status, body: (text === '' ? null : JSON.parse(text)) as JsonObject };
}

const shown = () => ({ 'X-SVC-Session': owner.session });
const made = async (body: JsonObject = {}) =>
  (await request(pair(0), 'POST', assign(), shown(), body)).body as { assignment_id: string; token: string };
const readBy = (gateway: RunningService, token: string) => request(gateway, 'GET', '/v1/book/slice', bearerOf(token));

describe('a slice token that was given at one process', () => {
  it('opens the slice at the other, and nothing there from the moment on at which the first has revoked it', async () => {
    const { assignment_id, token } = await made();
    // Read several times, because no part of the answer may be cached.
    for (let times = 0; times < 3; times++) expect((await readBy(pair(1), token)).status).toBe(200);
    expect((await request(pair(0), 'DELETE', `${assign()}/${assignment_id}`, shown())).status).toBe(200);
    expect(await readBy(pair(1), token)).toMatchObject({ status: 403, body: { code: 'token_invalid' } });
    expect((await readBy(pair(0), token)).status).toBe(403);
  });

  it('records nothing at the other once it is revoked, however the two fall together', async () => {
    for (let round = 0; round < 5; round++) {
      const { assignment_id, token } = await made({ grant_type: 'collect' });
      const inflow = `/v1/agents/${owner.agent_id}/book/inflow`;
      const write = () => request(pair(1), 'POST', inflow, bearerOf(token), { allocation: '1' });
      const [revoked, ...written] = await Promise.all([
        request(pair(0), 'DELETE', `${assign()}/${assignment_id}`, shown()),
        ...Array.from({ length: 4 }, write),
      ]);
      expect(revoked?.status).toBe(200);
      expect((await write()).status).toBe(403);
      // A row that was answered 201 was committed before the revocation, which waited for it.
      const recorded = written.filter(({ status }) => status === 201).length;
      const [found] = await ground.database.query<{ count: number }>({
        text: `select count(*)::int as count from book_row r join slice_assignment a using (agent_id)
          where a.assignment_id = $1 and r.facts->'inflow_claim'->'recorded_by'->>'assignment_id' = $1`,
        values: [assignment_id],
      });
      expect(found?.count).toBe(recorded);
      expect(written.every(({ status }) => status === 201 || status === 403)).toBe(true);
    }
  });
});

const place = (index: number) => ({ url: pair(index).url, chain: ground.chain });
const over = [
  expect.objectContaining({
    extensions: expect.objectContaining({ code: 'session_not_active', session_status: 'revoked' }),
  }),
];

/** Follows these sessions at both processes: over one socket that also follows the book, and over SSE. */
async function followedEverywhere(sessions: readonly BoundSession[]) {
  const followers = [];
  const books: number[][] = [];
  for (const gateway of [pair(0), pair(1)]) {
    const socket = openSocket(gateway, { session: owner.session });
    const book: number[] = [];
    books.push(book);
    void rowsOf(socket, book);
    for (const session of sessions)
      followers.push(followBurn(socket, session), await followBurnInEvents(gateway, owner.session, session));
  }
  return { followers, books };
}

async function rowsOf(socket: ReturnType<typeof openSocket>, heard: number[]): Promise<void> {
  const query = `subscription { bookRows(agentId: ${owner.agent_id}, after: 0) { position } }`;
  for await (const { data } of socket.each(query)) heard.push(positionIn(data));
}

const positionIn = (data: unknown) => (data as { readonly bookRows: { readonly position: number } }).bookRows.position;

async function post(index: number, path: string, body: object) {
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(pair(index).url + path, { method: 'POST', headers, body: JSON.stringify(body) });
  return { status: answer.status, body: (await answer.json()) as JsonObject };
}

describe('a session that is revoked at one process', () => {
  it('ends what follows it, and what follows those below it, over sockets and SSE at both; nothing else', async () => {
    const root = await bindRoot(place(0), payer);
    const child = await bindChild(place(1), root);
    const grandchild = await bindChild(place(0), child);
    const beside = await bindRoot(place(1), payer);
    const ending = await followedEverywhere([root, child, grandchild]);
    const { followers: going, books } = await followedEverywhere([beside]);
    const of = (tasks: readonly string[]) => Array(2).fill(tasks);
    const told = [root, child, grandchild].flatMap((_, depth, path) => of(path.slice(depth).map(it => it.task_id)));
    await expect.poll(() => ending.followers.map(({ tasks }) => tasks)).toEqual([...told, ...told]);
    await expect.poll(() => going.map(({ tasks }) => tasks)).toEqual(Array(4).fill([beside.task_id]));

    await revoke(pair(0), payer, root);
    await expect.poll(() => ending.followers.map(({ ended }) => ended)).toEqual(Array(12).fill(over));
    const rows = Math.max(...books.flat());
    const paid = await payUnder(pair(1), beside, 'Beside it');
    await expect.poll(() => going.map(({ tasks }) => tasks)).toEqual(Array(4).fill([beside.task_id, paid]));
    expect(going.map(({ ended }) => ended)).toEqual(Array(4).fill(null));
    await expect.poll(() => books.map(heard => Math.max(...heard) > rows)).toEqual([true, true]);
    expect(ending.followers.map(({ tasks }) => tasks)).toEqual([...told, ...told]);
  });

  it('does no act, and takes no payment, at the other', async () => {
    const root = await bindRoot(place(0), payer);
    const child = await bindChild(place(1), root);
    await revoke(pair(0), payer, root);
    for (const session of [root, child]) {
      const act = await signAct(session, { action: 'read_private', resource: 'book' });
      expect(await post(1, sessionPath(session.delegation_hash, 'act'), act)).toMatchObject({
        status: 403,
        body: { code: 'session_not_active', session_status: 'revoked' },
      });
      const paying = payingFetch(session.payer);
      const paid = await paying(pair(1).url + CHAT, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...session.headers },
        body: JSON.stringify(ask('After its end')),
      });
      expect([paid.status, await paid.json()]).toMatchObject([403, { code: 'session_not_active', charged: false }]);
    }
  });
});
