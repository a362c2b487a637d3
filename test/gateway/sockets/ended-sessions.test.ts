import { type Client, createClient } from 'graphql-ws';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import { appendEvent, type Head } from '../../../subgraphs/book/ledger/append.ts';
import { BOOK_CHANNEL, SESSION_CHANNEL } from '../../../subgraphs/live-channels.ts';
import { LIVE_APPLICATION } from '../../../subgraphs/live-connection.ts';
import { registrationOf } from '../../harness/buyer.ts';
import { newBuyer, send } from '../../harness/faults/buyer.ts';
import { type Ground, openGround } from '../../harness/faults/ground.ts';
import type { RunningService } from '../../harness/worker-gateway.ts';

let ground: Ground;
/** The gateway at which the session ends; the socket is open at the other one. */
let here: RunningService;
let there: RunningService;
beforeAll(async () => {
  ground = await openGround();
  [here, there] = await Promise.all([ground.start(), ground.start()]);
});

interface Agent {
  readonly agent_id: number;
  readonly session: string;
  readonly task_id: string;
}

async function newAgent() {
  const account = await ground.chain.newWallet();
  const buyer = await newBuyer(ground, account);
  const { body } = await send(here, await buyer.registration());
  return { account, buyer, ...(body as unknown as Agent) };
}

async function post(path: string, body: object) {
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(here.url + path, { method: 'POST', headers, body: JSON.stringify(body) });
  return { status: answer.status, body: (await answer.json()) as Agent };
}

const rotate = ({ agent_id, session }: Agent) => post(`/v1/agents/${agent_id}/book/rotate`, { session });

/** A socket that follows its book from the first event on, and has received that one. */
async function follow({ agent_id, session }: Agent, at: RunningService = there) {
  const client: Client = createClient({
    url: `${at.url.replace('http', 'ws')}/graphql`,
    webSocketImpl: WebSocket,
    connectionParams: { session },
    retryAttempts: 0,
  });
  onTestFinished(() => void client.dispose());
  const closed = new Promise<number>(resolve => client.on('closed', event => resolve((event as CloseEvent).code)));
  const query = 'subscription ($agentId: Int!) { bookRows(agentId: $agentId, after: 0) { position } }';
  const events = client.iterate({ query, variables: { agentId: agent_id } });
  expect((await events.next()).value).toEqual({ data: { bookRows: { position: 1 } } });
  return { closed, next: events.next().catch(() => null) };
}

describe('a socket of a session that ends in another process', () => {
  it('is closed with 4403 by the rotation itself: nothing happens on the book', async () => {
    const agent = await newAgent();
    const [socket, beside] = [await follow(agent), await follow(agent, here)];
    expect((await rotate(agent)).status).toBe(200);
    expect(await Promise.all([socket.closed, beside.closed])).toEqual([4403, 4403]);
    expect(await socket.next).toBeNull();
  });

  it('is closed with 4403 where the wallet recovers its registration', async () => {
    const agent = await newAgent();
    const socket = await follow(agent);
    const body = await registrationOf(agent.account, { task_id: agent.task_id });
    expect((await post('/v1/agents/register', body)).status).toBe(200);
    expect(await socket.closed).toBe(4403);
  });

  it('leaves the sockets of other agents, and of the session that came after it, open', async () => {
    const [agent, other] = [await newAgent(), await newAgent()];
    const bystander = await follow(other);
    const socket = await follow(agent);
    const { body } = await rotate(agent);
    expect(await socket.closed).toBe(4403);
    const successor = await follow(body);
    for (const { buyer } of [agent, other]) expect((await send(here, await buyer.chat('One more'))).status).toBe(200);
    for (const open of [bystander, successor]) {
      expect(await open.next).toMatchObject({ value: { data: { bookRows: { position: 2 } } } });
    }
  });

  it('gets nothing that is committed after the end, however soon', async () => {
    const agent = await newAgent();
    const { agent_id } = agent;
    const client = await ground.database.connect();
    onTestFinished(() => client.end());
    const [head] = await ground.database.query<{ position: number; event_hash: string }>({
      text: 'select * from book where agent_id = $1',
      values: [agent_id],
    });
    const next = { kind: 'correction', seq: 1, task_id: agent.task_id, body: {} } as const;
    const { event } = appendEvent(head as unknown as Head, next, '2026-03-01T10:30:00.000Z');
    for (let time = 0; time < 20; time++) {
      const socket = await follow(agent);
      // Both are committed before the first notification is sent.
      await client.query(`
        begin;
        update possession set ended_at = now() where agent_id = ${agent_id};
        select pg_notify('${SESSION_CHANNEL}', '${agent_id}');
        commit;
        begin;
        insert into book_event select * from jsonb_populate_record(null::book_event, '${JSON.stringify(event)}');
        update book set position = 2, event_hash = '${event.hash}' where agent_id = ${agent_id};
        select pg_notify('${BOOK_CHANNEL}', '${agent_id}:2');
        commit`);
      expect([await socket.closed, await socket.next]).toEqual([4403, null]);
      await client.query(`
        delete from book_event where agent_id = ${agent_id} and position = 2;
        update book set position = 1, event_hash = '${head?.event_hash}' where agent_id = ${agent_id};
        update possession set ended_at = null where agent_id = ${agent_id}`);
    }
  });

  it('is closed though the end was not heard of: after LISTEN was lost all are looked at again', async () => {
    const agent = await newAgent();
    const socket = await follow(agent);
    // The session ends as by rotation, but without a notification.
    await ground.database.query({
      text: 'update possession set ended_at = now() where agent_id = $1',
      values: [agent.agent_id],
    });
    await ground.database.query({
      text: `select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and application_name = '${LIVE_APPLICATION}'`,
    });
    expect(await socket.closed).toBe(4403);
  });
});

it('a session that has ended is dead at once at every door of every process', async () => {
  const agent = await newAgent();
  const reads = async (at: RunningService, session: string) =>
    (await fetch(`${at.url}/v1/agents/${agent.agent_id}/book`, { headers: { 'x-svc-session': session } })).status;
  expect(await reads(there, agent.session)).toBe(200);
  const { body } = await rotate(agent);
  expect([await reads(here, agent.session), await reads(there, agent.session)]).toEqual([403, 403]);
  expect([await reads(here, body.session), await reads(there, body.session)]).toEqual([200, 200]);
});
