import { createHmac } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { beforeAll, describe, expect, it } from 'vitest';
import { WebhookEnvelope } from '../../rest-compat/book/webhook-envelope.ts';
import { canonicalHash, canonicalJson, type JsonObject } from '../../schema/canonical-json.ts';
import { inflowDoorsOf } from '../harness/doors/inflows.ts';
import { ask, openService, type Service } from '../harness/doors/open-service.ts';
import { refusing } from '../harness/doors/refusing.ts';
import { webhookDoorsOf } from '../harness/doors/webhooks.ts';
import { openReceiver, type Received } from '../harness/webhook/receiver.ts';

type Agent = Awaited<ReturnType<Service['newAgent']>>;

let service: Service;
beforeAll(async () => {
  service = await openService({ NODE_ENV: 'test' });
});

const { secretOf, put, read, remove, rotate, ping, redeliver } = webhookDoorsOf(() => service);
const { record, entries } = inflowDoorsOf(() => service);

/** A book with a webhook. */
async function subscribed(members: JsonObject = {}) {
  const [agent, receiver] = await Promise.all([service.newAgent(), openReceiver()]);
  const secret = await secretOf(agent, { url: `${receiver.url}/in?key=k`, ...members });
  return { agent, receiver, secret };
}

const inflow = (agent: Agent, task_id: string) => record(agent, { allocation: '5', task_id });
const verified = (secret: string, { text, headers }: Received) => new Webhook(secret).verify(text, headers);
const of = (received: readonly Received[], kind: string) => received.filter(({ body }) => body.kind === kind);

describe('what a webhook is sent', () => {
  it('a purchase: settle and collected, with the row as the book shows it, signed, and by its hash', async () => {
    const { agent, receiver, secret } = await subscribed();
    await service.buy(agent.account);
    const received = await receiver.heard(2);
    const [row] = await entries(agent);
    expect(received.map(({ body }) => body.kind)).toEqual(['settle', 'collected']);
    for (const message of received) {
      const { body, text, headers, path } = message;
      const { position, seq, task_id, event, at, prev_hash } = body;
      expect(body).toMatchObject({
        schema: 'svc402.book_webhook.v1',
        id: `msg_${agent.agent_id}_${position}_${body.kind}`,
        agent_id: agent.agent_id,
        seq: row?.seq,
        task_id: row?.task_id,
        row,
      });
      expect(WebhookEnvelope.parse(body)).toEqual(body);
      expect(path).toBe('/in?key=k');
      expect(headers['webhook-id']).toBe(body.id);
      expect(headers['content-type']).toBe('application/json');
      expect(verified(secret, message)).toEqual(body);
      expect(headers['x-svc-signature']).toBe(`sha256=${createHmac('sha256', secret).update(text).digest('hex')}`);
      expect(text).toBe(canonicalJson(body));
      const { kind, body: told } = event as { kind: string; body: JsonObject };
      const facts = { agent_id: agent.agent_id, position, kind, seq, task_id, body: told, at, prev_hash };
      expect(canonicalHash(facts as JsonObject)).toBe(body.hash);
      expect(body.row_hash).toBe(told.row_hash);
      expect(told.messages).toMatchObject({ [body.kind]: body.number });
    }
    await expect
      .poll(async () => (await read(agent)).body.webhook)
      .toMatchObject({ deliveries: 2, failures: 0, lastStatus: 200, lastError: null });
  });

  it('an inflow and its correction, and a call that the book refuses; no other kind where it asks for no other', async () => {
    const { agent, receiver } = await subscribed({ events: ['inflow', 'policy_blocked'] });
    await inflow(agent, 'whm-1');
    await service.post(`/v1/agents/${agent.agent_id}/book/inflow/correct`, {
      session: agent.session,
      task_id: 'whm-1',
      reason: 'less',
    });
    await service.buy(agent.account);
    await refusing(service).setBudget(agent, '1');
    await service.buy(agent.account, ask('refused'));
    const received = await receiver.heard(3);
    expect(received.map(({ body }) => body.kind)).toEqual(['inflow', 'inflow', 'policy_blocked']);
    expect(received.map(({ body }) => body.number)).toEqual([1, 2, 3]);
    expect(of(received, 'policy_blocked')[0]?.body.row).toMatchObject({ evidence: 'policy_blocked', collected: false });
  });

  it('alerts where they are asked for by name', async () => {
    const { agent, receiver } = await subscribed({ events: ['alert'] });
    await refusing(service).setBudget(agent, '6000');
    await service.buy(agent.account, ask('half'));
    await service.buy(agent.account, ask('more'));
    const [message] = await receiver.heard(1);
    expect(message?.body).toMatchObject({ kind: 'alert', event: { kind: 'alert', body: { alert: 'threshold' } } });
  });

  it('numbers without a gap, in order of position', async () => {
    const { agent, receiver } = await subscribed({ events: ['inflow'] });
    await Promise.all(Array.from({ length: 20 }, (_, index) => inflow(agent, `whm-order-${index}`)));
    const received = await receiver.heard(20);
    const positions = received.map(({ body }) => Number(body.position));
    expect(positions).toEqual(positions.toSorted((one, other) => one - other));
    expect(received.map(({ body }) => body.number)).toEqual(Array.from({ length: 20 }, (_, index) => index + 1));
    expect(receiver.received).toHaveLength(20);
  });

  it('a test message, of no event', async () => {
    const { agent, receiver, secret } = await subscribed();
    const { body } = await ping(agent);
    const [message] = await receiver.heard(1);
    expect(WebhookEnvelope.parse(message?.body)).toEqual(message?.body);
    expect(message?.body).toMatchObject({ id: body.id, kind: 'ping', agent_id: agent.agent_id, row: null, hash: null });
    expect(message && verified(secret, message)).toBeTruthy();
  });

  it('nothing of a call by key: nothing was settled', async () => {
    const { agent, receiver } = await subscribed();
    const key = { 'X-API-Key': 'a-live-key', 'X-SVC-Session': agent.session };
    expect((await service.post('/v1/chat/completions', ask(), key)).status).toBe(200);
    await inflow(agent, 'whm-after-key');
    const received = await receiver.heard(1);
    expect(received.map(({ body }) => [body.kind, body.number])).toEqual([['inflow', 1]]);
  });
});

describe('a webhook that is changed', () => {
  it('is told by both secrets for a day after a rotation', async () => {
    const { agent, receiver, secret: old } = await subscribed({ events: ['inflow'] });
    const { body } = await rotate(agent);
    const secret = body.secret_once ?? '';
    await inflow(agent, 'whm-rotated');
    const [message] = await receiver.heard(1);
    if (!message) throw new Error('nothing came');
    expect(verified(secret, message)).toBeTruthy();
    expect(verified(old, message)).toBeTruthy();
    const hmac = (key: string) => `sha256=${createHmac('sha256', key).update(message.text).digest('hex')}`;
    expect(message.headers['x-svc-signature']).toBe(hmac(secret));
    expect(message.headers['x-svc-signature-previous']).toBe(hmac(old));
  });

  it('a secret of the caller’s own signs by its characters', async () => {
    const secret = 'an-own-secret-of-31-characters!';
    const { agent, receiver } = await subscribed({ events: ['inflow'], secret });
    await inflow(agent, 'whm-own-secret');
    const [message] = await receiver.heard(1);
    expect(message && new Webhook(secret, { format: 'raw' }).verify(message.text, message.headers)).toBeTruthy();
  });

  it('what waited for the old URL goes to the new one, and nothing any more to the old', async () => {
    const { agent, receiver } = await subscribed({ events: ['inflow'] });
    receiver.answerWith(() => ({ status: 500 }));
    await inflow(agent, 'whm-moved');
    await receiver.asked(1);
    const next = await openReceiver();
    await put(agent, { url: next.url, events: ['inflow'] });
    const [message] = await next.heard(1);
    expect(message?.body.id).toBe(receiver.received[0]?.body.id);
    expect(receiver.received).toHaveLength(1);
  });

  it('nothing is sent any more once it is removed; one that is set afterwards is not told of what was before', async () => {
    const { agent, receiver } = await subscribed({ events: ['inflow'] });
    receiver.answerWith(() => ({ status: 500 }));
    await inflow(agent, 'whm-removed');
    await receiver.asked(1);
    await remove(agent);
    await inflow(agent, 'whm-untold');
    receiver.answerWith(() => ({ status: 200 }));
    await put(agent, { url: receiver.url, events: ['inflow'] });
    await inflow(agent, 'whm-told');
    // By its number: between the two no other was to be told.
    await expect.poll(() => receiver.received.at(-1)?.body).toMatchObject({ number: 2 });
    expect(new Set(receiver.ids()).size).toBe(2);
    await expect
      .poll(() => service.query('select 1 from graphile_worker.jobs where key like $1', [`msg_${agent.agent_id}_%`]))
      .toEqual([]);
    expect(receiver.received).toHaveLength(2);
  });
});

describe('a redelivery', () => {
  it('sends again what it is told of within the range, by the same ids, in order', async () => {
    const { agent, receiver } = await subscribed({ events: ['inflow'] });
    for (const task of ['whm-r1', 'whm-r2', 'whm-r3']) await inflow(agent, task);
    const first = [...(await receiver.heard(3))];
    const positions = first.map(({ body }) => Number(body.position));
    const { status, body } = await redeliver(agent, positions[1] ?? 0, positions[2] ?? 0);
    expect([status, body.messages]).toEqual([202, 2]);
    await receiver.asked(5);
    expect(receiver.ids().slice(3)).toEqual(receiver.ids().slice(1, 3));
    expect(receiver.received[3]?.text).toBe(first[1]?.text);
  });

  it('that waits goes on where another is asked for that ends at the same position', async () => {
    const { agent, receiver } = await subscribed({ events: ['inflow'] });
    for (const task of ['whm-w1', 'whm-w2']) await inflow(agent, task);
    const [first, second] = (await receiver.heard(2)).map(({ body }) => Number(body.position));
    await service.query(
      `update webhook set rests_until = clock_timestamp() + interval '2 seconds' where agent_id = $1`,
      [agent.agent_id],
    );
    await redeliver(agent, first ?? 0, second ?? 0);
    await redeliver(agent, second ?? 0, second ?? 0);
    await receiver.asked(5);
    const again = receiver.ids().slice(2);
    expect(again.toSorted()).toEqual([...receiver.ids().slice(0, 2), receiver.ids()[1]].toSorted());
  });

  it('of what happened before there was a webhook has no number', async () => {
    const agent = await service.newAgent();
    await inflow(agent, 'whm-early');
    const receiver = await openReceiver();
    await secretOf(agent, { url: receiver.url, events: ['inflow'] });
    await redeliver(agent, 1, 100);
    const [message] = await receiver.heard(1);
    expect(message?.body).toMatchObject({ kind: 'inflow', number: null });
  });
});
