import { type Client, createClient, type ExecutionResult } from 'graphql-ws';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import { limits } from '../../../schema/limits.ts';
import { ask, type Service, sharedService } from '../../harness/doors/open-service.ts';
import { openSocket } from '../../harness/doors/socket.ts';

type Agent = Awaited<ReturnType<Service['newAgent']>>;

let service: Service;
let agents: readonly [Agent, Agent];
beforeAll(async () => {
  service = await sharedService();
  agents = [await service.newAgent(), await service.newAgent()];
});

const FOLLOW = 'subscription ($agentId: Int!) { bookRows(agentId: $agentId, after: 0) { position } }';
const rotate = async (agent: Pick<Agent, 'agent_id' | 'session'>) => {
  const { agent_id, session } = agent;
  return (await service.post<{ session: string }>(`/v1/agents/${agent_id}/book/rotate`, { session })).body;
};

/** A socket of that test, and the code that it was closed with, once it is. */
function open(connectionParams: Record<string, unknown>) {
  const url = `${service.url.replace('http', 'ws')}/graphql`;
  const client: Client = createClient({ url, webSocketImpl: WebSocket, connectionParams, retryAttempts: 0 });
  onTestFinished(() => void client.dispose());
  const closed = { code: null as number | null };
  client.on('closed', event => {
    closed.code = (event as CloseEvent).code;
  });
  return { client, closed };
}

/** What a subscription to a book receives, from its first event on, and how it ended. */
function follow(client: Client, { agent_id }: Pick<Agent, 'agent_id'>) {
  const heard: ExecutionResult[] = [];
  const over: { with: unknown } = { with: null };
  void (async () => {
    for await (const event of client.iterate({ query: FOLLOW, variables: { agentId: agent_id } }))
      heard.push(event as ExecutionResult);
    over.with = 'the end';
  })().catch(fault => {
    over.with = fault;
  });
  return { heard, over };
}

const forbidden = [expect.objectContaining({ extensions: expect.objectContaining({ code: 'forbidden' }) })];

describe('a socket that shows several sessions', () => {
  it('follows each book, and none beside', async () => {
    const { client } = open({ sessions: agents.map(({ session }) => session) });
    const [one, two] = agents.map(agent => follow(client, agent));
    const stranger = follow(client, await service.newAgent());
    await expect.poll(() => [one?.heard.length, two?.heard.length]).toEqual([1, 1]);
    await expect.poll(() => stranger.heard[0]?.errors).toEqual(forbidden);
  });

  it('loses what rests on a session that ends; the rest goes on, and so does the socket', async () => {
    const [kept, turned] = [await service.newAgent(), await service.newAgent()];
    const { client, closed } = open({ sessions: [kept.session, turned.session] });
    const [on, off] = [follow(client, kept), follow(client, turned)];
    await expect.poll(() => [on.heard.length, off.heard.length]).toEqual([1, 1]);
    await rotate(turned);
    await expect.poll(() => off.over.with).toEqual(forbidden);
    await service.buy(kept.account, ask('One more'), { 'X-SVC-Session': kept.session });
    await expect.poll(() => on.heard.length).toBe(2);
    expect([on.over.with, closed.code, off.heard.length]).toEqual([null, null, 1]);
    // For later subscriptions, too, one book opens and the other does not.
    const [again, shut] = [follow(client, kept), follow(client, turned)];
    await expect.poll(() => again.heard.length).toBe(2);
    await expect.poll(() => shut.heard[0]?.errors).toEqual(forbidden);
  });

  it('is closed with 4403 once all of them have ended', async () => {
    const [one, two] = [await service.newAgent(), await service.newAgent()];
    const { client, closed } = open({ sessions: [one.session, two.session] });
    const followed = follow(client, one);
    await expect.poll(() => followed.heard.length).toBe(1);
    await rotate(two);
    await rotate(one);
    await expect.poll(() => closed.code).toBe(4403);
  });

  it('is closed with 4403 at once where one of them is wrong', async () => {
    const { client, closed } = open({ sessions: [agents[0].session, 'svcs_of_nobody'] });
    follow(client, agents[0]);
    await expect.poll(() => closed.code).toBe(4403);
  });

  it(`is closed with 4400 where there are more than ${limits.sessions_per_caller_max}`, async () => {
    const { client, closed } = open({ sessions: Array.from({ length: 65 }, (_, index) => `svcs_${index}`) });
    follow(client, agents[0]);
    await expect.poll(() => closed.code).toBe(4400);
  });

  it('pays by a key under the book that it names, and under none by accident', async () => {
    const buy = 'mutation { createChatCompletion(input: { messages: [{ role: "user", content: "Hi" }] }) { svc } }';
    const shown = { sessions: agents.map(({ session }) => session), api_key: 'a-live-key' };
    await expect(openSocket(service, shown).first(buy)).rejects.toMatchObject([
      { extensions: { code: 'book_not_named' } },
    ]);
    const [, { agent_id }] = agents;
    const { data } = await openSocket(service, { ...shown, agent_id }).first(buy);
    expect(data).toMatchObject({ createChatCompletion: { svc: { claim_id: agent_id } } });
  });
});

describe('who opens a socket is said in connectionParams', () => {
  const [first, second] = [0, 1].map(index => () => (agents[index] as Agent).session) as [() => string, () => string];
  it.each<[string, () => Record<string, unknown>]>([
    ['as `session`', () => ({ session: first() })],
    ['as `sessions`', () => ({ sessions: [second(), first()] })],
    ['by the header of HTTP, bare', () => ({ 'X-SVC-Session': first() })],
    ['by it in another case', () => ({ 'x-Svc-session': first() })],
    ['by it under `headers`', () => ({ headers: { 'X-SVC-Session': first() } })],
    ['by it with several in it', () => ({ headers: { 'x-svc-session': `${second()}, ${first()}` } })],
    ['by it as a list', () => ({ 'X-SVC-Session': [second(), first()] })],
  ])('%s', async (_, params) => {
    const { heard } = follow(open(params()).client, agents[0]);
    await expect.poll(() => heard.length).toBeGreaterThan(0);
  });
});
