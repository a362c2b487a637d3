import { beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { payingFetch } from '../harness/buyer.ts';
import { ask, CHAT } from '../harness/doors/open-service.ts';
import { openSocket } from '../harness/doors/socket.ts';
import { type Ground, openGround } from '../harness/faults/ground.ts';
import { type Agent, newAgent, startGateways } from '../harness/gateways/trio.ts';
import { signAct } from '../harness/session/delegate.ts';
import {
  type Bound,
  bindChild,
  bindRoot,
  followBurn,
  followBurnInEvents,
  payUnder,
  revoke,
  sessionPath,
} from '../harness/session/trees.ts';
import type { RunningService } from '../harness/worker-gateway.ts';

/* Two processes on one Postgres: a session that is revoked at one of them is over at the other. */

let ground: Ground;
let gateways: readonly RunningService[];
let payer: Bound['payer'];
let owner: Agent;
beforeAll(async () => {
  ground = await openGround();
  gateways = await startGateways(ground, 2);
  payer = await ground.chain.newWallet();
  owner = await newAgent(ground, at(0), payer);
});

const at = (index: number) => gateways[index] as RunningService;
const place = (index: number) => ({ url: at(index).url, chain: ground.chain });
const over = [
  expect.objectContaining({
    extensions: expect.objectContaining({ code: 'session_not_active', session_status: 'revoked' }),
  }),
];

/** Everybody who can follow it, at both processes: over one socket that also follows the book, and over SSE. */
async function followedEverywhere(sessions: readonly Bound[]) {
  const followers = [];
  const books: number[][] = [];
  for (const gateway of gateways) {
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
  const answer = await fetch(at(index).url + path, { method: 'POST', headers, body: JSON.stringify(body) });
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

    await revoke(at(0), payer, root);
    await expect.poll(() => ending.followers.map(({ ended }) => ended)).toEqual(Array(12).fill(over));
    const rows = Math.max(...books.flat());
    const paid = await payUnder(at(1), beside, 'Beside it');
    await expect.poll(() => going.map(({ tasks }) => tasks)).toEqual(Array(4).fill([beside.task_id, paid]));
    expect(going.map(({ ended }) => ended)).toEqual(Array(4).fill(null));
    await expect.poll(() => books.map(heard => Math.max(...heard) > rows)).toEqual([true, true]);
    expect(ending.followers.map(({ tasks }) => tasks)).toEqual([...told, ...told]);
  });

  it('does no act, and takes no payment, at the other', async () => {
    const root = await bindRoot(place(0), payer);
    const child = await bindChild(place(1), root);
    await revoke(at(0), payer, root);
    for (const session of [root, child]) {
      const act = await signAct(session, { action: 'read_private', resource: 'book' });
      expect(await post(1, sessionPath(session.delegation_hash, 'act'), act)).toMatchObject({
        status: 403,
        body: { code: 'session_not_active', session_status: 'revoked' },
      });
      const paying = payingFetch(session.payer);
      const paid = await paying(at(1).url + CHAT, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...session.headers },
        body: JSON.stringify(ask('After its end')),
      });
      expect([paid.status, await paid.json()]).toMatchObject([403, { code: 'session_not_active', charged: false }]);
    }
  });
});
