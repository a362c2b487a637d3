import { beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { webhookLimits } from '../../schema/limits.ts';
import { inflowDoorsOf } from '../harness/doors/inflows.ts';
import { onGraph } from '../harness/doors/on-graph.ts';
import { openService, type Service } from '../harness/doors/open-service.ts';
import { webhookDoorsOf } from '../harness/doors/webhooks.ts';
import { openReceiver } from '../harness/webhook/receiver.ts';

type Agent = Awaited<ReturnType<Service['newAgent']>>;

let service: Service;
beforeAll(async () => {
  service = await openService({ NODE_ENV: 'test', LOG_LEVEL: 'debug' });
});

const { secretOf, put, read, rotate, ping, redeliver, deadLetters } = webhookDoorsOf(() => service);
const { record } = inflowDoorsOf(() => service);

async function subscribed(status = 200) {
  const [agent, receiver] = await Promise.all([service.newAgent(), openReceiver(() => ({ status }))]);
  const secret = await secretOf(agent, { url: `${receiver.url}/hidden?key=hidden`, events: ['inflow'] });
  return { agent, receiver, secret };
}

const inflow = (agent: Agent, task_id: string) => record(agent, { allocation: '5', task_id });
const webhookOf = async (agent: Agent) => (await read(agent)).body.webhook;
const jobsOf = ({ agent_id }: Agent) =>
  service.query<{ key: string; run_at: Date }>('select key, run_at from graphile_worker.jobs where key like $1', [
    `msg_${agent_id}_%`,
  ]);
/** Makes the next attempt due now and sets the number of earlier ones. */
const skipTo = ({ agent_id }: Agent, attempts: number) =>
  service.query(
    `update graphile_worker._private_jobs set run_at = now(),
      payload = (payload::jsonb || jsonb_build_object('attempts', $2::int))::json where key like $1`,
    [`msg_${agent_id}_%`, attempts],
  );

describe('a message that its receiver does not take', () => {
  it('is sent again by the same id, and holds up none behind it', async () => {
    const { agent, receiver } = await subscribed();
    receiver.answerWith(({ body }) => ({ status: body.number === 1 && receiver.received.length < 3 ? 503 : 200 }));
    for (const task of ['whf-1', 'whf-2', 'whf-3']) await inflow(agent, task);
    await receiver.untilRequests(4);
    expect(receiver.received.map(({ body }) => body.number)).toEqual([1, 2, 3, 1]);
    expect(receiver.ids()[3]).toBe(receiver.ids()[0]);
    await expect
      .poll(() => webhookOf(agent))
      .toMatchObject({ deliveries: 3, failures: 1, lastStatus: 200, lastError: null });
  });

  it('waits for as long as Retry-After says', async () => {
    const { agent, receiver } = await subscribed();
    receiver.answerWith(() => ({ status: 429, headers: { 'retry-after': '3600' } }));
    const before_ms = Date.now();
    await inflow(agent, 'whf-later');
    await expect.poll(async () => (await jobsOf(agent)).length).toBe(1);
    const [job] = await jobsOf(agent);
    expect(job?.run_at.getTime()).toBeGreaterThanOrEqual(before_ms + 3_590_000);
    expect(await webhookOf(agent)).toMatchObject({ failures: 1, lastStatus: 429 });
  });

  it('is a dead letter after its last attempt, and is redelivered by its position', async () => {
    const { agent, receiver } = await subscribed(500);
    await inflow(agent, 'whf-dead');
    await expect.poll(async () => (await jobsOf(agent)).length).toBe(1);
    await skipTo(agent, webhookLimits.retry_ms.length);
    await expect.poll(async () => (await deadLetters(agent)).body.dead_letters.length).toBe(1);
    const [dead] = (await deadLetters(agent)).body.dead_letters;
    expect(dead).toEqual({
      position: receiver.received[0]?.body.position,
      kind: 'inflow',
      attempts: webhookLimits.retry_ms.length + 1,
      given_up_at: expect.any(String),
      lastStatus: 500,
      lastError: 'The receiver responded with HTTP 500.',
    });
    receiver.answerWith(() => ({ status: 200 }));
    const sent = receiver.received.length;
    await redeliver(agent, dead?.position ?? 0, dead?.position ?? 0);
    await receiver.untilRequests(sent + 1);
    expect(new Set(receiver.ids()).size).toBe(1);
    expect((await deadLetters(agent)).body.dead_letters).toEqual([]);
  });

  it('410 disables the webhook; set again it is told of what happens from then on', async () => {
    const { agent, receiver } = await subscribed(410);
    await inflow(agent, 'whf-gone');
    await expect
      .poll(() => webhookOf(agent))
      .toMatchObject({ enabled: false, failures: 1, lastStatus: 410, lastError: expect.stringContaining('410') });
    expect((await deadLetters(agent)).body.dead_letters).toMatchObject([{ kind: 'inflow', lastStatus: 410 }]);
    await inflow(agent, 'whf-untold');
    receiver.answerWith(() => ({ status: 200 }));
    await put(agent, { url: receiver.url, events: ['inflow'] });
    await inflow(agent, 'whf-told');
    const received = await receiver.untilMessages(2);
    // No number is missing, because no message was due while the webhook was disabled.
    expect(received.map(({ body }) => body.number)).toEqual([1, 2]);
  });

  it('its receiver rests after five in a row, and a test message that it takes wakes it', async () => {
    const { agent, receiver } = await subscribed(500);
    for (let index = 0; index < 7; index++) await inflow(agent, `whf-rest-${index}`);
    await expect.poll(async () => (await webhookOf(agent))?.failures).toBe(webhookLimits.failures_until_rest);
    receiver.answerWith(() => ({ status: 200 }));
    await ping(agent);
    // Messages that were not tried yet are sent at once and not at the end of the pause.
    await expect.poll(() => receiver.received.map(({ body }) => body.number)).toContain(7);
    expect(await webhookOf(agent)).toMatchObject({ lastStatus: 200 });
  });
});

describe('dead letters', () => {
  it('of a kind that it is not told of any more stay: a redelivery sends none of them', async () => {
    const agent = await service.newAgent();
    await secretOf(agent, { url: 'http://127.0.0.1:9/', events: ['inflow'] });
    const [born] = await service.query<{ position: number }>(
      `select position from book_event where agent_id = $1 and kind = 'born' order by position limit 1`,
      [agent.agent_id],
    );
    const position = born?.position ?? 0;
    await service.query(
      `insert into webhook_dead_letter (agent_id, position, kind, attempts, given_up_at)
        select $1, $2, kind, 10, now() from unnest(array['settle', 'inflow']) kind`,
      [agent.agent_id, position],
    );
    expect((await redeliver(agent, position, position)).body.messages).toBe(0);
    expect((await deadLetters(agent)).body.dead_letters).toMatchObject([{ position, kind: 'settle' }]);
  });

  it('are listed by pages, the newest first, and of a book no more are kept than so many', async () => {
    const { agent } = await subscribed(410);
    await service.query(
      `insert into webhook_dead_letter (agent_id, position, kind, attempts, given_up_at)
        select $1, n, 'inflow', 10, now() from generate_series(100, 100 + $2::int) n`,
      [agent.agent_id, webhookLimits.dead_letters_max],
    );
    await inflow(agent, 'whf-full');
    await expect.poll(async () => (await webhookOf(agent))?.enabled).toBe(false);
    const positions: number[] = [];
    for (let query = '?limit=200'; query !== ''; ) {
      const { body } = await deadLetters(agent, query);
      positions.push(...body.dead_letters.map(({ position }) => position));
      query = body.next === null ? '' : `?limit=200&before=${body.next}`;
    }
    expect(positions).toHaveLength(webhookLimits.dead_letters_max);
    expect(positions).toEqual(positions.toSorted((one, other) => other - one));
    await service.query(`update webhook_dead_letter set given_up_at = now() - interval '31 days' where agent_id = $1`, [
      agent.agent_id,
    ]);
    expect((await deadLetters(agent)).body.dead_letters).toEqual([]);
  });
});

it('neither URL nor secret stands in a log, a job or a column, whatever goes wrong', async () => {
  const { agent, receiver, secret } = await subscribed(500);
  const { body } = await rotate(agent);
  await inflow(agent, 'whf-secrets');
  await receiver.untilRequests(1);
  await expect.poll(async () => (await jobsOf(agent)).length).toBe(1);
  const stored = await service.query<JsonObject>('select row_to_json(w)::text as text from webhook w');
  const jobs = await service.query<JsonObject>(
    'select row_to_json(j)::text as text from graphile_worker._private_jobs j',
  );
  const all = [JSON.stringify([...stored, ...jobs, await webhookOf(agent)]), ...service.gateway.logs].join('\n');
  for (const hidden of [secret, body.secret_once ?? '', receiver.url]) expect(all).not.toContain(hidden);
  const unseen = [...stored, ...jobs].map(row => JSON.stringify(row)).join('\n');
  expect(unseen).not.toContain('hidden');
});

describe('on the graph', () => {
  const SHOWN =
    'agentId webhook { enabled urlHost urlPath events hasSecret deliveries failures lastStatus lastError } supportedEvents secretOnce';

  it('a webhook is set, read, rotated, tested, redelivered by and removed as at the doors', async () => {
    const [agent, receiver] = await Promise.all([service.newAgent(), openReceiver()]);
    const { agent_id: agentId, session } = agent;
    const ask = (query: string, variables: JsonObject = {}) =>
      onGraph(service, query, { agentId, ...variables }, session);
    const set = await ask(
      `mutation ($agentId: Int!, $input: WebhookInput!) { setWebhook(agentId: $agentId, input: $input) { ${SHOWN} } }`,
      {
        input: { url: receiver.url, events: ['alert', 'inflow'] },
      },
    );
    expect(set.data).toMatchObject({
      setWebhook: { agentId, webhook: { events: ['inflow', 'alert'] }, secretOnce: expect.stringMatching(/^whsec_/) },
    });
    const shown = await ask(`query ($agentId: Int!) { webhook(agentId: $agentId) { ${SHOWN} } }`);
    expect(shown.data).toMatchObject({ webhook: { webhook: { enabled: true }, secretOnce: null } });
    const rotated = await ask(`mutation ($agentId: Int!) { rotateWebhookSecret(agentId: $agentId) { ${SHOWN} } }`);
    expect(rotated.data).toMatchObject({ rotateWebhookSecret: { secretOnce: expect.stringMatching(/^whsec_/) } });
    await ask('mutation ($agentId: Int!) { pingWebhook(agentId: $agentId) { agentId id } }');
    await receiver.untilMessages(1);
    await inflow(agent, 'whf-graph');
    await receiver.untilMessages(2);
    const again = await ask(`mutation ($agentId: Int!) {
      redeliverWebhook(agentId: $agentId, fromPosition: 1, toPosition: 9) { agentId messages } }`);
    expect(again.data).toEqual({ redeliverWebhook: { agentId, messages: 1 } });
    await receiver.untilRequests(3);
    const dead = await ask(`query ($agentId: Int!) { webhookDeadLetters(agentId: $agentId, limit: 5) {
      agentId next deadLetters { position kind attempts givenUpAt lastStatus lastError } } }`);
    expect(dead.data).toEqual({ webhookDeadLetters: { agentId, next: null, deadLetters: [] } });
    const removed = await ask(`mutation ($agentId: Int!) { removeWebhook(agentId: $agentId) { ${SHOWN} } }`);
    expect(removed.data).toMatchObject({ removeWebhook: { webhook: null } });
  });
});
