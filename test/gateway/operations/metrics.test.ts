import { createClient } from 'graphql-ws';
import { beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { openStore } from '../../../gateway/parts.ts';
import { everyDoor } from '../../../rest-compat/every-door.ts';
import { addJob } from '../../../subgraphs/jobs.ts';
import { makePayment } from '../../harness/doors/make-payment.ts';
import { ask, CHAT, openService, type Service } from '../../harness/doors/open-service.ts';
import { increases, namingFaults, parseExposition, type Scrape } from '../../harness/operations/exposition.ts';
import { atEnd } from '../../harness/release.ts';

let service: Service;
beforeAll(async () => {
  service = await openService();
  // A scrape is itself a request: its series must exist before anything is compared.
  await scrape();
});

async function scrape(): Promise<Scrape> {
  const answer = await fetch(`${service.url}/metrics`);
  expect([answer.status, answer.headers.get('content-type')]).toEqual([
    200,
    'text/plain; version=0.0.4; charset=utf-8',
  ]);
  return parseExposition(await answer.text());
}

const gauge = async (name: string) => (await scrape()).samples.get(name);

async function paying() {
  return (await makePayment(service, await service.chain.newWallet())).headers;
}

/** An answer is counted a moment after it was sent. */
async function counted(before: Scrape, family: string, expected: Record<string, number>): Promise<void> {
  await expect.poll(async () => increases(before, await scrape(), family)).toEqual(expected);
}

const CHATS = 'field="Mutation.createChatCompletion"';
const at = (status: number, door = CHAT, method = 'POST') => `{door="${door}",method="${method}",status="${status}"}`;

describe('GET /metrics counts exactly what was done', () => {
  it('requests by door, method and status; paid calls by how they came out; each of their steps', async () => {
    const before = await scrape();
    const [first, second, refused] = await Promise.all([paying(), paying(), paying()]);
    expect((await service.post(CHAT, ask())).status).toBe(402);
    expect((await service.post(CHAT, ask('one'), first)).status).toBe(200);
    expect((await service.post(CHAT, ask('two'), second)).status).toBe(200);
    expect((await service.post(CHAT, ask('one'), first)).status).toBe(200);
    expect((await service.post(CHAT, ask('three'), first)).status).toBe(409);
    for (const hub of service.hubs) hub.behave({ kind: 'status', status: 500 });
    expect((await service.post(CHAT, ask('four'), refused)).status).toBe(502);
    for (const hub of service.hubs) hub.behave({ kind: 'answer' });
    for (let count = 0; count < 3; count++) await service.get('/v1/models');

    await counted(before, 'svc_paid_calls', {
      [`{${CHATS},outcome="settled"}`]: 2,
      [`{${CHATS},outcome="idempotent_replay"}`]: 1,
      [`{${CHATS},outcome="claim_already_settled"}`]: 1,
      [`{${CHATS},outcome="hub_failed"}`]: 1,
    });
    const after = await scrape();
    expect(increases(before, after, 'svc_http_request_seconds')).toMatchObject({
      [at(200)]: 3,
      [at(402)]: 1,
      [at(409)]: 1,
      [at(502)]: 1,
      [at(200, '/v1/models', 'GET')]: 3,
    });
    const steps = increases(before, after, 'svc_paid_step_seconds');
    const step = (name: string) => steps[`{${CHATS},step="${name}"}`];
    expect([step('verify'), step('work'), step('settle'), step('record'), step('replay')]).toEqual([5, 3, 2, 2, 1]);
    expect(step('claim')).toBeGreaterThanOrEqual(3);
  });

  it('questions to hubs by name, and what they failed of', async () => {
    const before = await scrape();
    const [alpha, beta] = service.hubs;
    alpha.behave({ kind: 'status', status: 503 });
    expect((await service.post(CHAT, ask('ask the other'), await paying())).status).toBe(200);
    alpha.behave({ kind: 'answer' });
    await counted(before, 'svc_hub_failures', { '{hub="alpha",reason="status_503"}': 1 });
    expect(increases(before, await scrape(), 'svc_hub_request_seconds')).toEqual({
      '{hub="alpha",outcome="failed"}': 1,
      [`{hub="${beta.config.name}",outcome="answered"}`]: 1,
    });
  });

  it('who shared a commit, and rounds of reconcile', async () => {
    const before = await scrape();
    const payments = await Promise.all(Array.from({ length: 5 }, paying));
    const answers = await Promise.all(
      payments.map((headers, index) => service.post(CHAT, ask(`together ${index}`), headers)),
    );
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    await expect
      .poll(async () => {
        const sum = 'svc_commit_batch_items_sum{queue="record"}';
        return ((await scrape()).samples.get(sum) ?? 0) - (before.samples.get(sum) ?? 0);
      })
      .toBe(5);
    const rounds = 'svc_reconcile_rounds_total{round="orphans",outcome="done"}';
    await expect.poll(() => gauge(rounds)).toBeGreaterThan(before.samples.get(rounds) ?? 0);
  });

  it('jobs: how those of this process came out and when, and what waits in the fleet', async () => {
    const expired = '{task="periodic/expired",outcome="done"}';
    const [runs, ended] = [`svc_jobs_total${expired}`, `svc_job_ended_timestamp_seconds${expired}`];
    await expect.poll(() => gauge(ended)).toBeGreaterThan(0);
    const before = await scrape();
    await expect.poll(() => gauge(runs)).toBeGreaterThan(before.samples.get(runs) ?? 0);
    await expect.poll(() => gauge(ended)).toBeGreaterThan(before.samples.get(ended) ?? 0);
    const store = await openStore(service.database_url);
    atEnd(() => store.close());
    await addJob(store, { task: 'periodic/nobody does it', payload: {} });
    const nobody = '{task="periodic/nobody does it"}';
    expect(await gauge(`svc_jobs_ready${nobody}`)).toBe(1);
    expect(await gauge(`svc_oldest_ready_job_seconds${nobody}`)).toBeGreaterThan(0);
  });

  it('a call under way, its step, and the claim that it holds open', async () => {
    const released = Promise.withResolvers<void>();
    for (const hub of service.hubs) hub.behave({ kind: 'answer', until: released.promise });
    const answer = service.post(CHAT, ask('at work'), await paying());
    await expect.poll(() => gauge('svc_paid_calls_underway{step="work"}')).toBe(1);
    await expect.poll(() => gauge('svc_open_claims')).toBe(1);
    expect(await gauge('svc_oldest_open_claim_seconds')).toBeGreaterThan(0);
    // The scrape itself is one of them.
    await expect.poll(() => gauge('svc_http_requests_underway')).toBe(2);
    released.resolve();
    for (const hub of service.hubs) hub.behave({ kind: 'answer' });
    expect((await answer).status).toBe(200);
    await expect.poll(() => gauge('svc_open_claims')).toBe(0);
    expect(await gauge('svc_paid_calls_underway{step="work"}')).toBeUndefined();
    await expect.poll(() => gauge('svc_http_requests_underway')).toBe(1);
  });

  it('sockets, what runs on them and what they are sent', async () => {
    const { agent_id, session } = await service.newAgent();
    const before = (await scrape()).samples.get('svc_socket_deliveries_total') ?? 0;
    const socket = createClient({
      url: `${service.url.replace('http', 'ws')}/graphql`,
      webSocketImpl: WebSocket,
      connectionParams: { session },
    });
    const rows = socket.iterate({ query: `subscription { bookRows(agentId: ${agent_id}) { position } }` });
    const first = rows.next();
    await expect.poll(() => gauge('svc_socket_operations')).toBe(1);
    expect(await gauge('svc_sockets')).toBe(1);
    const headers = { ...(await paying()), 'X-SVC-Session': session };
    expect((await service.post(CHAT, ask('a row'), headers)).status).toBe(200);
    expect((await first).done).toBe(false);
    await expect.poll(() => gauge('svc_socket_deliveries_total')).toBeGreaterThan(before);
    await socket.dispose();
    await expect.poll(() => gauge('svc_sockets')).toBe(0);
    expect(await gauge('svc_socket_operations')).toBe(0);
    expect(await gauge('svc_sockets_dropped_total{reason="slow"}')).toBe(0);
  });

  it('the log by its size, the pool, the process and what runs', async () => {
    const { samples } = await scrape();
    const [log] = await service.query<{ tree_size: string }>('select tree_size from log_head');
    expect(samples.get('svc_log_leaves')).toBe(Number(log?.tree_size));
    // A periodic task may be using each of them just now.
    await expect.poll(() => gauge('svc_database_connections{state="idle"}')).toBeGreaterThan(0);
    expect(samples.get('process_cpu_seconds_total{mode="user"}')).toBeGreaterThan(0);
    expect(samples.get('nodejs_memory_bytes{kind="resident"}')).toBeGreaterThan(1e6);
    expect(samples.get('svc_away{need="database"}')).toBe(0);
    expect([...samples.keys()]).toContain(`svc_build_info{version="1.0.0",node="${process.version}"}`);
  });
});

it('is named as Prometheus names things, with a sample in every family that calls and sockets make', async () => {
  expect(namingFaults(await scrape())).toEqual([]);
});

it('no label takes a value from a caller: strange paths and methods make no series of their own', async () => {
  const strange = async (round: string) => {
    for (const path of [
      `/${round}`,
      `/v1/${round}`,
      `/receipt/task_${round}`,
      `/refusal/${round}`,
      `/livez/${round}`,
    ]) {
      for (const method of ['GET', 'PURGE', 'PROPFIND']) {
        const answer = await fetch(service.url + path, { method, headers: { 'x-request-id': round } });
        await answer.body?.cancel();
      }
    }
    await expect.poll(() => gauge('svc_http_requests_underway')).toBe(1);
    return [...(await scrape()).samples.keys()].filter(key => key.startsWith('svc_http_'));
  };
  const first = await strange('one');
  expect(await strange('two')).toEqual(first);
  const doors = new Set(first.flatMap(key => /door="([^"]*)"/.exec(key)?.[1] ?? []));
  const known = everyDoor.flatMap(({ path, aliases }) => [path, ...aliases]);
  expect([...doors].filter(door => !known.includes(door as (typeof known)[number])).sort()).toEqual([
    '/metrics',
    'other',
  ]);
});
