import { createHmac } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { beforeAll, describe, expect, it } from 'vitest';
import { openStore } from '../../gateway/parts.ts';
import { WebhookEnvelope } from '../../rest-compat/book/webhook-envelope.ts';
import { canonicalHash, canonicalJson, type JsonObject } from '../../schema/canonical-json.ts';
import { escrowLimits } from '../../schema/limits.ts';
import { announceBid } from '../../subgraphs/board/job/announce-bid.ts';
import { payingFetch } from '../harness/buyer.ts';
import { escrowDoorsOf } from '../harness/doors/escrows.ts';
import { inflowDoorsOf } from '../harness/doors/inflows.ts';
import { ask, openService, type Service } from '../harness/doors/open-service.ts';
import { policyDoorsOf } from '../harness/doors/policies.ts';
import { webhookDoorsOf } from '../harness/doors/webhooks.ts';
import { atEnd } from '../harness/release.ts';
import { openReceiver, type ReceivedMessage } from '../harness/webhook/receiver.ts';

type Agent = Awaited<ReturnType<Service['newAgent']>>;

let service: Service;
beforeAll(async () => {
  service = await openService({ NODE_ENV: 'test' });
});

const { secretOf, put, read, remove, rotate, ping, redeliver } = webhookDoorsOf(() => service);
const { record, entries } = inflowDoorsOf(() => service);

async function subscribed(members: JsonObject = {}) {
  const [agent, receiver] = await Promise.all([service.newAgent(), openReceiver()]);
  const secret = await secretOf(agent, { url: `${receiver.url}/in?key=k`, ...members });
  return { agent, receiver, secret };
}

const inflow = (agent: Agent, task_id: string) => record(agent, { allocation: '5', task_id });
const verified = (secret: string, { text, headers }: ReceivedMessage) => new Webhook(secret).verify(text, headers);
const of = (received: readonly ReceivedMessage[], kind: string) => received.filter(({ body }) => body.kind === kind);

describe('what a webhook is sent', () => {
  it('a purchase: settle and collected, with the row as the book shows it, signed, and by its hash', async () => {
    const { agent, receiver, secret } = await subscribed();
    await service.buy(agent.account);
    const received = await receiver.untilMessages(2);
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
    await policyDoorsOf(service).setBudget(agent, '1');
    await service.buy(agent.account, ask('refused'));
    const received = await receiver.untilMessages(3);
    expect(received.map(({ body }) => body.kind)).toEqual(['inflow', 'inflow', 'policy_blocked']);
    expect(received.map(({ body }) => body.number)).toEqual([1, 2, 3]);
    expect(of(received, 'policy_blocked')[0]?.body.row).toMatchObject({ evidence: 'policy_blocked', collected: false });
  });

  it('alerts where they are asked for by name', async () => {
    const { agent, receiver } = await subscribed({ events: ['alert'] });
    await policyDoorsOf(service).setBudget(agent, '6000');
    await service.buy(agent.account, ask('half'));
    await service.buy(agent.account, ask('more'));
    const [message] = await receiver.untilMessages(1);
    expect(message?.body).toMatchObject({ kind: 'alert', event: { kind: 'alert', body: { alert: 'threshold' } } });
  });

  it('bids on its jobs where they are asked for by name, each once; without that its book has no event of them', async () => {
    const [{ agent: poster, receiver }, plain, bidder] = await Promise.all([
      subscribed({ events: ['bid'] }),
      service.newAgent(),
      service.newAgent(),
    ]);
    const stamped = async (who: Agent, path: string, body: JsonObject) => {
      const headers = { 'X-SVC-Session': who.session };
      const answer = await service.knock<JsonObject>('POST', path, { body, headers, by: payingFetch(who.account) });
      expect(answer.status, answer.text).toBe(201);
      return answer.body;
    };
    const deadline = new Date(Date.now() + 86_400_000).toISOString();
    const bidOn = async (who: Agent) => {
      const { job_id } = await stamped(who, '/v1/board/jobs', { text: 'Sum this up', budget: '5000', deadline });
      const bid = (price: string) => stamped(bidder, `/v1/board/jobs/${job_id}/bid`, { price });
      return [await bid('5000'), await bid('4000')];
    };
    await bidOn(plain);
    const bids = await bidOn(poster);
    const received = await receiver.untilMessages(2);
    expect(received.map(({ body }) => [body.kind, body.seq, body.task_id, body.row])).toEqual([
      ['bid', null, null, null],
      ['bid', null, null, null],
    ]);
    const told = received.map(({ body }) => body.event);
    for (const [index, { bid_id = '', job_id = '', price = '' }] of bids.entries())
      expect(told.find(it => (it.body as JsonObject).bid_id === bid_id)).toMatchObject({
        kind: 'bid',
        body: { job_id, price, agent_id: bidder.agent_id, revision: index + 1 },
      });
    for (const { body } of received) expect(WebhookEnvelope.parse(body)).toEqual(body);
    const store = await openStore(service.database_url);
    atEnd(() => store.close());
    for (const { bid_id } of bids) await announceBid(store, String(bid_id));
    const events = (agent_id: number) =>
      service.query(`select 1 from book_event where agent_id = $1 and kind = 'bid'`, [agent_id]);
    expect([(await events(poster.agent_id)).length, (await events(plain.agent_id)).length]).toEqual([2, 0]);
  });

  it('escrows that others open with it where they are asked for by name, ten within an hour; all of them are in its list', async () => {
    const { agent: counterparty, receiver } = await subscribed({ events: ['escrow_offer'] });
    const { opened, list } = escrowDoorsOf(() => service);
    const [plain, ...principals] = await Promise.all([0, 1, 2].map(() => service.newAgent()));
    if (!plain) throw new Error('nobody came');
    const offered = [];
    for (const [index, principal] of [...principals, ...principals].entries())
      for (let more = 0; more < 3; more++)
        offered.push(await opened(principal, counterparty, `offer-${index}-${more}`));
    await opened(counterparty, plain, 'to-another');
    const received = await receiver.untilMessages(escrowLimits.offers_sent_per_book_hour_max);
    const ids = received.map(({ body }) => String((body.event.body as JsonObject).escrow_id));
    expect(new Set(ids).size).toBe(escrowLimits.offers_sent_per_book_hour_max);
    expect(offered.map(({ escrow_id }) => escrow_id)).toEqual(expect.arrayContaining(ids));
    const first = offered.find(({ escrow_id }) => escrow_id === ids[0]);
    expect(received[0]?.body.event).toMatchObject({
      kind: 'escrow_offer',
      body: {
        job_id: first?.job_id,
        amount: '2000',
        principal_agent_id: first?.parties.principal_agent_id,
        expires_at: first?.expires_at,
      },
    });
    const listed = (await list(counterparty)).body.escrows.map(({ escrow_id }) => escrow_id);
    expect(listed).toEqual(expect.arrayContaining(offered.map(({ escrow_id }) => escrow_id)));
    const [{ rows, told } = {}] = await service.query<{ rows: number; told: number }>(
      `select (select count(*)::int from book_row where agent_id = $1 and evidence = 'a2a_escrow'
          and facts->'a2a_escrow'->>'counterparty_agent_id' = $1::text) as rows,
        (select count(*)::int from book_event where agent_id = $1 and kind = 'escrow_offer') as told`,
      [counterparty.agent_id],
    );
    expect({ rows, told }).toEqual({ rows: 0, told: escrowLimits.offers_sent_per_book_hour_max });
  });

  it('numbers without a gap, in order of position', async () => {
    const { agent, receiver } = await subscribed({ events: ['inflow'] });
    await Promise.all(Array.from({ length: 20 }, (_, index) => inflow(agent, `whm-order-${index}`)));
    const received = await receiver.untilMessages(20);
    const positions = received.map(({ body }) => Number(body.position));
    expect(positions).toEqual(positions.toSorted((one, other) => one - other));
    expect(received.map(({ body }) => body.number)).toEqual(Array.from({ length: 20 }, (_, index) => index + 1));
    expect(receiver.received).toHaveLength(20);
  });

  it('a test message, of no event', async () => {
    const { agent, receiver, secret } = await subscribed();
    const { body } = await ping(agent);
    const [message] = await receiver.untilMessages(1);
    expect(WebhookEnvelope.parse(message?.body)).toEqual(message?.body);
    expect(message?.body).toMatchObject({ id: body.id, kind: 'ping', agent_id: agent.agent_id, row: null, hash: null });
    expect(message && verified(secret, message)).toBeTruthy();
  });

  it('nothing of a call by key: nothing was settled', async () => {
    const { agent, receiver } = await subscribed();
    const key = { 'X-API-Key': 'a-live-key', 'X-SVC-Session': agent.session };
    expect((await service.post('/v1/chat/completions', ask(), key)).status).toBe(200);
    await inflow(agent, 'whm-after-key');
    const received = await receiver.untilMessages(1);
    expect(received.map(({ body }) => [body.kind, body.number])).toEqual([['inflow', 1]]);
  });
});

describe('a webhook that is changed', () => {
  it('is told by both secrets for a day after a rotation', async () => {
    const { agent, receiver, secret: old } = await subscribed({ events: ['inflow'] });
    const { body } = await rotate(agent);
    const secret = body.secret_once ?? '';
    await inflow(agent, 'whm-rotated');
    const [message] = await receiver.untilMessages(1);
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
    const [message] = await receiver.untilMessages(1);
    expect(message && new Webhook(secret, { format: 'raw' }).verify(message.text, message.headers)).toBeTruthy();
  });

  it('what waited for the old URL goes to the new one, and nothing any more to the old', async () => {
    const { agent, receiver } = await subscribed({ events: ['inflow'] });
    receiver.answerWith(() => ({ status: 500 }));
    await inflow(agent, 'whm-moved');
    await receiver.untilRequests(1);
    const next = await openReceiver();
    await put(agent, { url: next.url, events: ['inflow'] });
    const [message] = await next.untilMessages(1);
    expect(message?.body.id).toBe(receiver.received[0]?.body.id);
    expect(receiver.received).toHaveLength(1);
  });

  it('nothing is sent any more once it is removed; one that is set afterwards is not told of what was before', async () => {
    const { agent, receiver } = await subscribed({ events: ['inflow'] });
    receiver.answerWith(() => ({ status: 500 }));
    await inflow(agent, 'whm-removed');
    await receiver.untilRequests(1);
    await remove(agent);
    await inflow(agent, 'whm-untold');
    receiver.answerWith(() => ({ status: 200 }));
    await put(agent, { url: receiver.url, events: ['inflow'] });
    await inflow(agent, 'whm-told');
    // Found by its number, because no other message was due between the two.
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
    const first = [...(await receiver.untilMessages(3))];
    const positions = first.map(({ body }) => Number(body.position));
    const { status, body } = await redeliver(agent, positions[1] ?? 0, positions[2] ?? 0);
    expect([status, body.messages]).toEqual([202, 2]);
    await receiver.untilRequests(5);
    expect(receiver.ids().slice(3)).toEqual(receiver.ids().slice(1, 3));
    expect(receiver.received[3]?.text).toBe(first[1]?.text);
  });

  it('that waits goes on where another is asked for that ends at the same position', async () => {
    const { agent, receiver } = await subscribed({ events: ['inflow'] });
    for (const task of ['whm-w1', 'whm-w2']) await inflow(agent, task);
    const [first, second] = (await receiver.untilMessages(2)).map(({ body }) => Number(body.position));
    await service.query(
      `update webhook set rests_until = clock_timestamp() + interval '2 seconds' where agent_id = $1`,
      [agent.agent_id],
    );
    await redeliver(agent, first ?? 0, second ?? 0);
    await redeliver(agent, second ?? 0, second ?? 0);
    await receiver.untilRequests(5);
    const again = receiver.ids().slice(2);
    expect(again.toSorted()).toEqual([...receiver.ids().slice(0, 2), receiver.ids()[1]].toSorted());
  });

  it('of what happened before there was a webhook has no number', async () => {
    const agent = await service.newAgent();
    await inflow(agent, 'whm-early');
    const receiver = await openReceiver();
    await secretOf(agent, { url: receiver.url, events: ['inflow'] });
    await redeliver(agent, 1, 100);
    const [message] = await receiver.untilMessages(1);
    expect(message?.body).toMatchObject({ kind: 'inflow', number: null });
  });
});
