import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import { makePayment } from '../../harness/doors/make-payment.ts';
import { ask, CHAT, type Chat, openService, type Service } from '../../harness/doors/open-service.ts';

let service: Service;
let agent: Awaited<ReturnType<Service['newAgent']>>;
beforeAll(async () => {
  service = await openService({ LOG_LEVEL: 'info' });
  agent = await service.newAgent();
});

const paying = async () => (await makePayment(service, await service.chain.newWallet())).headers;
const linesOf = (request_id: string): JsonObject[] =>
  service.gateway.logs.filter(line => line.includes(request_id)).map(line => JSON.parse(line));

/** The lines that name the request, once there is one. */
async function logged(request_id: string): Promise<JsonObject[]> {
  await expect.poll(() => linesOf(request_id).length).toBeGreaterThan(0);
  return linesOf(request_id);
}

describe('a request', () => {
  it('is one line of the log: its endpoint, method, status, duration and, of a paid call, its task', async () => {
    const [paid, unpaid, read] = [randomUUID(), randomUUID(), randomUUID()];
    const bought = await service.post<Chat>(CHAT, ask(), { ...(await paying()), 'x-request-id': paid });
    await service.post(CHAT, ask(), { 'x-request-id': unpaid });
    await service.get(`/v1/agents/${agent.agent_id}/book?token=secret`, { 'x-request-id': read });
    const line = { level: 30, msg: 'answered', method: 'POST', endpoint: CHAT };
    const duration = { duration_ms: expect.any(Number) };
    expect(await logged(paid)).toEqual([
      expect.objectContaining({ ...line, ...duration, status: 200, task_id: bought.body.svc.task_id }),
    ]);
    expect(await logged(unpaid)).toEqual([expect.objectContaining({ ...line, ...duration, status: 402 })]);
    const [book] = await logged(read);
    expect(book).toMatchObject({ method: 'GET', endpoint: '/v1/agents/{agent_id}/book', status: 401 });
    // Nothing but these: neither address nor URL, header or query.
    const members = [
      'level',
      'time',
      'pid',
      'hostname',
      'request_id',
      'method',
      'endpoint',
      'status',
      'duration_ms',
      'msg',
    ];
    expect(Object.keys(book ?? {})).toEqual(members);
  });

  it('keeps a well-formed id of its caller and gets one of ours for any other', async () => {
    const ulid = '01JD5Z7Q8R9S0T1V2W3X4Y5Z6A';
    for (const id of [randomUUID(), ulid])
      expect((await service.get('/v1/models', { 'x-request-id': id })).headers.get('x-request-id')).toBe(id);
    const given = new Set<string | null>();
    for (const id of [agent.session, 'a"b', 'x'.repeat(64), `${randomUUID()}0`, '']) {
      const { headers } = await service.get('/nowhere', { 'x-request-id': id });
      given.add(headers.get('x-request-id'));
    }
    expect(given.size).toBe(5);
    for (const id of given) expect(id).toMatch(/^[0-9a-f-]{36}$/);
  });

  it('whose caller leaves before its answer is counted, and is a line that says so', async () => {
    const left = randomUUID();
    const released = Promise.withResolvers<void>();
    for (const hub of service.hubs) hub.behave({ kind: 'answer', until: released.promise });
    const asked = service.hubs[0].requests.length;
    const leaving = new AbortController();
    const headers = { ...(await paying()), 'content-type': 'application/json', 'x-request-id': left };
    const body = JSON.stringify(ask('never heard'));
    const answer = fetch(service.url + CHAT, { method: 'POST', headers, body, signal: leaving.signal });
    await expect.poll(() => service.hubs[0].requests.length).toBeGreaterThan(asked);
    leaving.abort();
    await answer.catch(() => {});
    const lines = await logged(left).finally(() => released.resolve());
    expect(lines).toEqual([expect.objectContaining({ endpoint: CHAT, status: 'none', aborted: true })]);
    const underway = async () => (await (await fetch(`${service.url}/metrics`)).text()).match(/underway (\d+)/)?.[1];
    await expect.poll(underway).toBe('1');
    for (const hub of service.hubs) hub.behave({ kind: 'answer' });
    const unfinished = `select 1 from payment_claim where state in ('claimed', 'settling')`;
    await expect.poll(async () => (await service.query(unfinished)).length).toBe(0);
    expect(linesOf(left)).toHaveLength(1);
  });

  it('of a probe is in the log for those alone who want it all', async () => {
    const probe = randomUUID();
    expect((await service.get('/readyz', { 'x-request-id': probe })).status).toBe(200);
    const after = randomUUID();
    await service.get('/v1/models', { 'x-request-id': after });
    await logged(after);
    expect(linesOf(probe)).toEqual([]);
  });
});

/** Names of a Server-Timing header, in their order; each has a duration (W3C Server-Timing §3). */
function timed(headers: Headers): string[] {
  const metrics = (headers.get('server-timing') ?? '').split(', ');
  for (const metric of metrics) expect(metric).toMatch(/^[a-z]+;dur=\d+\.\d{2}$/);
  return metrics.map(metric => metric.split(';')[0] ?? '');
}

const GRAPHQL = { query: 'mutation ($input: ChatCompletionInput!) { createChatCompletion(input: $input) { id } }' };
const graphql = (content: string) => ({
  ...GRAPHQL,
  variables: { input: { messages: [{ role: 'user', content }] } },
});
const STEPS = ['verify', 'claim', 'work', 'settle', 'record', 'total'];

describe('Server-Timing', () => {
  it('says of a paid call what each step took, at the door and on /graphql, also where it is redelivered', async () => {
    const [door, graph] = [await paying(), await paying()];
    expect(timed((await service.post(CHAT, ask('timed'), door)).headers)).toEqual(STEPS);
    expect(timed((await service.post(CHAT, ask('timed'), door)).headers).slice(-2)).toEqual(['replay', 'total']);
    expect(timed((await service.post('/graphql', graphql('timed'), graph)).headers)).toEqual(STEPS);
    expect(timed((await service.post('/graphql', graphql('timed'), graph)).headers).slice(-2)).toEqual([
      'replay',
      'total',
    ]);
    const events = await fetch(service.url + CHAT, {
      method: 'POST',
      headers: { ...(await paying()), 'content-type': 'application/json' },
      body: JSON.stringify(ask('streamed', { stream: true })),
    });
    expect(await events.text()).toContain('[DONE]');
    expect(timed(events.headers)).toEqual(['verify', 'claim', 'work', 'settle', 'total']);
  });

  it('says the whole of what costs nothing, and of a call that came to nothing what was done for it', async () => {
    expect(timed((await service.get('/v1/models')).headers)).toEqual(['total']);
    expect(timed((await service.post('/graphql', { query: '{ models { id } }' })).headers)).toEqual(['total']);
    expect(timed((await service.post(CHAT, ask())).headers)).toEqual(['total']);
    for (const hub of service.hubs) hub.behave({ kind: 'status', status: 500 });
    const failed = await service.post(CHAT, ask('failed'), await paying());
    for (const hub of service.hubs) hub.behave({ kind: 'answer' });
    expect([failed.status, timed(failed.headers)]).toEqual([502, ['verify', 'claim', 'work', 'total']]);
  });

  const wrong: Readonly<Record<string, string>>[] = [
    {},
    { 'X-SVC-Session': 'svcs_wrong' },
    { 'X-SVC-Proof': `sha256=${'0'.repeat(64)}` },
  ];
  it('is silent where possession is refused, of a book that is there and of one that is not', async () => {
    for (const agent_id of [agent.agent_id, 2_000_000]) {
      const path = `/v1/agents/${agent_id}/book`;
      for (const shown of wrong) {
        const refused = await service.get(path, shown);
        expect([401, 403]).toContain(refused.status);
        expect(refused.headers.get('server-timing')).toBeNull();
      }
      const query = { query: `{ book(agentId: ${agent_id}) { agentId } }` };
      const asked = await service.post<{ errors: JsonObject[] }>('/graphql', query);
      expect(asked.body.errors).toHaveLength(1);
      expect(asked.headers.get('server-timing')).toBeNull();
    }
  });
});
