import type { ExecutionResult } from 'graphql';
import { createClient } from 'graphql-sse';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { bookProof, proofWindow } from '../../../subgraphs/session/possession/proof.ts';
import { ask, type Service, sharedService } from '../../harness/doors/open-service.ts';

type Agent = Awaited<ReturnType<Service['newAgent']>>;

let service: Service;
beforeAll(async () => {
  service = await sharedService();
});

const FOLLOW = 'subscription ($agentId: Int!) { bookRows(agentId: $agentId, after: 0) { position } }';
const STREAM =
  'subscription { chatCompletionStream(input: { messages: [{ role: "user", content: "Hi" }] }) { __typename } }';
const url = () => `${service.url}/graphql/stream`;
const rotate = ({ agent_id, session }: Agent) => service.post(`/v1/agents/${agent_id}/book/rotate`, { session });
const buy = ({ account, session }: Agent, what: string) =>
  service.buy(account, ask(what), { 'X-SVC-Session': session });

/** What a subscription by the official client receives, and how it ended. */
function follow({ agent_id }: Pick<Agent, 'agent_id'>, headers: Record<string, string>) {
  const client = createClient({ url: url(), headers, retryAttempts: 0 });
  onTestFinished(() => client.dispose());
  const heard: ExecutionResult[] = [];
  const over: { with: unknown } = { with: null };
  client.subscribe<Record<string, unknown>>(
    { query: FOLLOW, variables: { agentId: agent_id } },
    {
      next: result => void heard.push(result as ExecutionResult),
      error: fault => {
        over.with = fault;
      },
      complete: () => {
        over.with = 'complete';
      },
    },
  );
  return { heard, over };
}

const codesIn = (heard: readonly ExecutionResult[]) => heard.at(-1)?.errors?.map(({ extensions }) => extensions?.code);
const post = (body: object, headers: Record<string, string> = {}) =>
  fetch(url(), {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });

describe('/graphql/stream by the client of graphql-sse', () => {
  it('follows a book: what was, and then what comes', async () => {
    const agent = await service.newAgent();
    const [one, two] = [agent, agent].map(() => follow(agent, { 'X-SVC-Session': agent.session }));
    await expect.poll(() => [one?.heard.length, two?.heard.length]).toEqual([1, 1]);
    await buy(agent, 'Live');
    const events = [1, 2].map(position => ({ data: { bookRows: { position } } }));
    await expect.poll(() => [one?.heard, two?.heard]).toEqual([events, events]);
  });

  it('ends with forbidden where its session ends', async () => {
    const agent = await service.newAgent();
    const { heard, over } = follow(agent, { 'X-SVC-Session': agent.session });
    await expect.poll(() => heard.length).toBe(1);
    expect((await rotate(agent)).status).toBe(200);
    await expect.poll(() => over.with).toBe('complete');
    expect([heard.length, codesIn(heard)]).toEqual([2, ['forbidden']]);
  });

  it('of several sessions it ends with that of its own book, and with no other', async () => {
    const [kept, turned] = [await service.newAgent(), await service.newAgent()];
    const headers = { 'X-SVC-Session': `${kept.session}, ${turned.session}` };
    const [on, off] = [follow(kept, headers), follow(turned, headers)];
    await expect.poll(() => [on.heard.length, off.heard.length]).toEqual([1, 1]);
    await rotate(turned);
    await expect.poll(() => off.over.with).toBe('complete');
    expect(codesIn(off.heard)).toEqual(['forbidden']);
    await buy(kept, 'Still');
    await expect.poll(() => on.heard.length).toBe(2);
    expect(on.over.with).toBeNull();
  });

  it('opens by a proof as well', async () => {
    const { agent_id, session } = await service.newAgent();
    const proof = bookProof(session, agent_id, proofWindow(Date.now()));
    const { heard } = follow({ agent_id }, { 'X-SVC-Agent': String(agent_id), 'X-SVC-Proof': proof });
    await expect.poll(() => heard.length).toBe(1);
  });

  it('says in an event that a book is not theirs', async () => {
    const agent = await service.newAgent();
    const { heard, over } = follow(agent, {});
    await expect.poll(() => over.with).toBe('complete');
    expect(codesIn(heard)).toEqual(['unauthenticated']);
  });
});

describe('/graphql/stream', () => {
  it('takes GET, as EventSource asks: a comment at once, then the events', async () => {
    const { agent_id, session } = await service.newAgent();
    const query = new URLSearchParams({ query: FOLLOW, variables: JSON.stringify({ agentId: agent_id }) });
    const aborting = new AbortController();
    const answer = await fetch(`${url()}?${query}`, { headers: { 'X-SVC-Session': session }, signal: aborting.signal });
    expect(answer.headers.get('content-type')).toBe('text/event-stream');
    let text = '';
    const reading = (async () => {
      for await (const bytes of answer.body ?? []) text += Buffer.from(bytes).toString();
    })().catch(() => {});
    await expect.poll(() => text).toBe(':\n\nevent: next\ndata: {"data":{"bookRows":{"position":1}}}\n\n');
    aborting.abort();
    await reading;
  });

  it('403 for a wrong session', async () => {
    const answer = await post({ query: FOLLOW, variables: { agentId: 1 } }, { 'X-SVC-Session': 'svcs_of_nobody' });
    expect([answer.status, await answer.json()]).toMatchObject([
      403,
      { errors: [{ extensions: { code: 'forbidden' } }] },
    ]);
  });

  it.each([
    ['a query', { query: '{ models { id } }' }],
    ['a mutation', { query: 'mutation { rotateSession(agentId: 1) { session } }' }],
    ['nothing', {}],
    ['what is no field', { query: 'subscription { nothing }' }],
  ])('400 for %s', async (_, body) => {
    const answer = await post(body);
    expect([answer.status, await answer.json()]).toMatchObject([
      400,
      { errors: [{ extensions: { code: 'invalid_request' } }] },
    ]);
  });

  it('takes no payment, which stays unused; a key stands in for one', async () => {
    const account = await service.chain.newWallet();
    const payment = await service.payment(account, '/v1/chat/completions');
    const refused = await post({ query: STREAM }, payment as Record<string, string>);
    expect(refused.status).toBe(400);
    expect(await service.claimsOf(account)).toEqual([]);
    const heard = await (await post({ query: STREAM }, { 'X-API-Key': 'a-live-key' })).text();
    expect(heard).toMatch(/event: next\ndata: {"data"/);
    expect(heard).toMatch(/event: complete\ndata: \n\n$/);
  });
});
