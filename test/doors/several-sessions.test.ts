import { beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { limits } from '../../schema/limits.ts';
import { payingFetch } from '../harness/buyer.ts';
import { onGraph, type Result } from '../harness/doors/on-graph.ts';
import { ask, CHAT, type Chat, type Service, sharedService } from '../harness/doors/open-service.ts';

type Agent = Awaited<ReturnType<Service['newAgent']>>;

let service: Service;
let agents: readonly [Agent, Agent];
let other: Agent;
beforeAll(async () => {
  service = await sharedService();
  agents = [await service.newAgent(), await service.newAgent()];
  other = await service.newAgent();
});

const joined = (held: readonly Pick<Agent, 'session'>[]) => held.map(({ session }) => session).join(', ');
const both = () => ({ 'X-SVC-Session': joined(agents) });
const naming = ({ agent_id }: Agent) => ({ ...both(), 'X-SVC-Agent': String(agent_id) });
const never = { session: `svcs_${'A'.repeat(43)}` };

const run = (query: string, headers: Readonly<Record<string, string>>, by?: typeof fetch) =>
  onGraph(service, query, {}, headers, by);
const readBooks = (...held: readonly Agent[]) =>
  `{ ${held.map(({ agent_id }) => `b${agent_id}: book(agentId: ${agent_id}) { agentId }`).join(' ')} }`;
const codes = ({ errors = [] }: Result<JsonObject>) => errors.map(({ extensions }) => extensions.code);
const taskOnBook = async ({ agent_id, session }: Agent) => {
  const { body } = await service.get<{ entries: readonly { task_id: string }[] }>(`/v1/agents/${agent_id}/book`, {
    'X-SVC-Session': session,
  });
  return body.entries[0]?.task_id;
};

describe('several sessions in one request', () => {
  it.each([
    ['joined by a comma', (headers: Headers) => headers.set('X-SVC-Session', joined(agents))],
    [
      'as a header that is repeated',
      (headers: Headers) => {
        for (const { session } of agents) headers.append('X-SVC-Session', session);
      },
    ],
  ])('%s: each book opens, in one query', async (_, show) => {
    const headers = new Headers({ 'content-type': 'application/json' });
    show(headers);
    const body = JSON.stringify({ query: readBooks(...agents) });
    const answer = await fetch(`${service.url}/graphql`, { method: 'POST', headers, body });
    const [one, two] = agents;
    expect(await answer.json()).toEqual({
      data: { [`b${one.agent_id}`]: { agentId: one.agent_id }, [`b${two.agent_id}`]: { agentId: two.agent_id } },
    });
  });

  it('open each of their doors, and no other', async () => {
    for (const { agent_id } of agents)
      expect((await service.get(`/v1/agents/${agent_id}/book`, both())).status).toBe(200);
    const shut = await service.get(`/v1/agents/${other.agent_id}/book`, both());
    expect([shut.status, shut.text]).toEqual([403, '']);
    expect(codes((await run(readBooks(other), both())).body)).toEqual(['forbidden']);
  });

  it('one that is wrong makes all of them wrong', async () => {
    const headers = { 'X-SVC-Session': joined([...agents, never]) };
    const [one] = agents;
    const shut = await service.get(`/v1/agents/${one.agent_id}/book`, headers);
    expect([shut.status, shut.text]).toEqual([403, '']);
    expect(codes((await run(readBooks(...agents), headers)).body)).toEqual(['forbidden', 'forbidden']);
    const account = await service.chain.newWallet();
    const unpaid = await service.buy(account, ask('With a wrong one'), {
      ...headers,
      'X-SVC-Agent': String(one.agent_id),
    });
    expect([unpaid.status, unpaid.text]).toEqual([403, '']);
    expect(await service.transfersFrom(account)).toEqual([]);
  });

  it(`are at most ${limits.sessions_per_caller_max}`, async () => {
    const many = Array.from({ length: limits.sessions_per_caller_max + 1 }, (_, index) => `svcs_${index}`);
    const headers = { 'X-SVC-Session': many.join(',') };
    expect(await service.get(`/v1/agents/${other.agent_id}/book`, headers)).toMatchObject({
      status: 400,
      body: { code: 'invalid_request' },
    });
    expect(await run('{ models { id } }', headers)).toMatchObject({ status: 400 });
  });

  it('write to the book that the write names, if it is theirs', async () => {
    const allow = ({ agent_id }: Agent) =>
      `mutation { setBookPolicy(agentId: ${agent_id}, policyType: daily_cap, value: "900000") { dailyCap } }`;
    for (const agent of agents) expect((await run(allow(agent), both())).body.errors).toBeUndefined();
    expect(codes((await run(allow(other), both())).body)).toEqual(['forbidden']);
  });

  it('rotate the one that is named: with the old one among them nothing opens any more', async () => {
    const [kept, turned] = [await service.newAgent(), await service.newAgent()];
    const headers = { 'X-SVC-Session': joined([kept, turned]) };
    const { body } = await run(`mutation { rotateSession(agentId: ${turned.agent_id}) { session } }`, headers);
    const { session } = (body.data as { rotateSession: { session: string } }).rotateSession;
    expect((await service.get(`/v1/agents/${kept.agent_id}/book`, headers)).status).toBe(403);
    const renewed = { 'X-SVC-Session': joined([kept, { session }]) };
    expect((await service.get(`/v1/agents/${turned.agent_id}/book`, renewed)).status).toBe(200);
  });
});

describe('a refusal among several books', () => {
  it('leaves the others in the answer: of the viewer, of exports, and the secret of a rotation', async () => {
    const [sound, closed] = [await service.newAgent(), await service.newAgent()];
    await service.query(`update book set damage = '{}' where agent_id = $1`, [closed.agent_id]);
    const headers = { 'X-SVC-Session': joined([sound, closed]) };
    const { body } = await run('{ viewer { books { agentId } } }', headers);
    expect(body.data).toEqual({ viewer: { books: expect.arrayContaining([{ agentId: sound.agent_id }, null]) } });
    expect(codes(body)).toEqual(['book_damaged']);
    for (const query of [
      `{ receipt(taskId: "${closed.task_id}") { row { seq } } }`,
      `{ policyChanges(agentId: ${closed.agent_id}) { position } }`,
    ])
      expect(codes((await run(query, headers)).body), query).toEqual(['book_damaged']);
    const exported = ({ agent_id }: Agent) => `bookExport(agentId: ${agent_id}) { csv }`;
    const exports = await run(`{ one: ${exported(sound)} two: ${exported(closed)} }`, headers);
    expect(exports.body.data).toEqual({ one: { csv: expect.stringContaining(sound.task_id) }, two: null });
    const rotated = ({ agent_id }: Agent) => `rotateSession(agentId: ${agent_id}) { session }`;
    const rotations = await run(`mutation { one: ${rotated(sound)} two: ${rotated(other)} }`, headers);
    expect(rotations.body.data).toEqual({ one: { session: expect.stringMatching(/^svcs_/) }, two: null });
    expect(codes(rotations.body)).toEqual(['forbidden']);
  });
});

describe('a paid call with several sessions', () => {
  it('400 book_not_named where it names no book: nothing is claimed, and the payment is good for the same call', async () => {
    const account = await service.chain.newWallet();
    const payment = await service.payment(account, CHAT);
    const body = ask('On which book?');
    const refused = await service.post(CHAT, body, { ...payment, ...both() });
    expect(refused).toMatchObject({ status: 400, body: { code: 'book_not_named' } });
    expect(await service.claimsOf(account)).toEqual([]);
    const [, two] = agents;
    const bought = await service.post<Chat>(CHAT, body, { ...payment, ...naming(two) });
    expect(bought.status).toBe(200);
    expect(await taskOnBook(two)).toBe(bought.body.svc.task_id);
    expect(await service.transfersFrom(account)).toHaveLength(1);
  });

  it('403 where it names a book that is not theirs', async () => {
    const account = await service.chain.newWallet();
    const refused = await service.buy(account, ask('On yours'), naming(other));
    expect([refused.status, refused.text]).toEqual([403, '']);
    expect(await service.claimsOf(account)).toEqual([]);
  });

  it('403 where one session comes and another book is named', async () => {
    const account = await service.chain.newWallet();
    const [one, two] = agents;
    const headers = { 'X-SVC-Session': one.session, 'X-SVC-Agent': String(two.agent_id) };
    expect((await service.buy(account, ask('On another'), headers)).status).toBe(403);
    expect(await service.claimsOf(account)).toEqual([]);
  });

  it('likewise by a key, on /graphql and streamed', async () => {
    const [one] = agents;
    const buy = 'mutation { createChatCompletion(input: { messages: [{ role: "user", content: "Hi" }] }) { svc } }';
    const key = { 'X-API-Key': 'a-live-key' };
    expect(await service.post(CHAT, ask('By key'), { ...key, ...both() })).toMatchObject({
      status: 400,
      body: { code: 'book_not_named' },
    });
    expect(await service.post(CHAT, ask('Streamed', { stream: true }), { ...key, ...both() })).toMatchObject({
      status: 400,
      body: { code: 'book_not_named' },
    });
    expect(codes((await run(buy, { ...key, ...both() })).body)).toEqual(['book_not_named']);
    const account = await service.chain.newWallet();
    const paying = payingFetch(account) as typeof fetch;
    expect(codes((await run(buy, both(), paying)).body)).toEqual(['book_not_named']);
    const { data } = (await run(buy, naming(one), paying)).body;
    const { svc } = (data as { createChatCompletion: { svc: { task_id: string; claim_id: number } } })
      .createChatCompletion;
    expect(svc.claim_id).toBe(one.agent_id);
    expect(await taskOnBook(one)).toBe(svc.task_id);
  });
});
