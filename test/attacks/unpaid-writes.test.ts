import { beforeAll, describe, expect, it } from 'vitest';
import type { z } from 'zod';
import { openStore } from '../../gateway/parts.ts';
import type { BookNoun } from '../../schema/book/book-page.ts';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { limits } from '../../schema/limits.ts';
import type { Database } from '../../subgraphs/database.ts';
import { ask, CHAT, type Chat, openService, type Service } from '../harness/doors/open-service.ts';
import { policyDoorsOf, type RefusedCallBody } from '../harness/doors/policies.ts';
import { auditBooks } from '../harness/faults/audit-books.ts';
import { auditRefusals } from '../harness/faults/audit-refusals.ts';
import { atEnd } from '../harness/release.ts';

type Agent = Awaited<ReturnType<Service['newAgent']>>;
type Entry = z.infer<typeof BookNoun>['entries'][number];

const SINGLES = limits.replay_events_per_hour_max;
const ROWS = limits.blocked_rows_per_hour_max;
const AT_ONCE = 64;

let service: Service;
let book: ReturnType<typeof policyDoorsOf>;
let database: Database;
beforeAll(async () => {
  service = await openService({}, { mid_hour: true });
  book = policyDoorsOf(service);
  database = await openStore(service.database_url);
  atEnd(() => database.close());
});

/** Sends `count` requests, with AT_ONCE in progress. Returns all answers. */
async function volley<T>(count: number, shoot: (number: number) => Promise<T>): Promise<T[]> {
  const heard: T[] = [];
  let next = 0;
  const one = async () => {
    while (next < count) heard.push(await shoot(next++));
  };
  await Promise.all(Array.from({ length: AT_ONCE }, one));
  return heard;
}

const eventsOf = ({ agent_id }: Agent, kind: string) =>
  service.query<{ seq: number; body: JsonObject }>(
    'select seq, body from book_event where agent_id = $1 and kind = $2 order by position',
    [agent_id, kind],
  );

/** Makes the first count a minute old, so that the next round of the gateway writes the event. */
async function minutePassed({ agent_id }: Agent): Promise<void> {
  await expect.poll(() => service.query('select 1 from book_counted where agent_id = $1', [agent_id])).toHaveLength(1);
  const text = `update book_counted set first_at = first_at - interval '1 minute' where agent_id = $1`;
  await service.query(text, [agent_id]);
  const left = () => service.query('select 1 from book_counted where agent_id = $1', [agent_id]);
  await expect.poll(left).toEqual([]);
}

async function graphRow(agent: Agent): Promise<JsonObject> {
  const query = `query ($agentId: Int!) { book(agentId: $agentId, limit: 1) { entries { replayCount
    replayEvents { at first_at: firstAt count settlement_status: settlementStatus replay_of: replayOf } } } }`;
  const { body } = await service.post<{ data: { book: { entries: JsonObject[] } } }>(
    '/graphql',
    { query, variables: { agentId: agent.agent_id } },
    { 'X-SVC-Session': agent.session },
  );
  return body.data.book.entries[0] ?? {};
}

describe('a stranger who replays what is public calldata', () => {
  it('1,500 times leaves twenty events and one for each minute, and a true count at any moment', async () => {
    const agent = await service.newAgent();
    const payment = await service.payment(agent.account, CHAT);
    const bought = await service.post<Chat>(CHAT, ask('Mine'), payment);
    expect(bought.status).toBe(200);
    const begun = Date.now();
    const replays = await volley(1_500, () => service.post<Chat>(CHAT, ask('Mine'), payment));
    expect(new Set(replays.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);

    const entry = async (): Promise<Entry | undefined> => (await book.bookOf(agent)).entries[0];
    expect(await entry()).toMatchObject({ task_id: bought.body.svc.task_id, replay_count: 1_500 });
    expect(await graphRow(agent)).toMatchObject({ replayCount: 1_500 });
    const minutes = Math.ceil((Date.now() - begun) / 60_000);

    await minutePassed(agent);
    const events = await eventsOf(agent, 'replay');
    const several = events.slice(SINGLES).map(({ body }) => body);
    expect(several.length).toBeGreaterThan(0);
    expect(several.length).toBeLessThanOrEqual(minutes);
    for (const body of several)
      expect(body).toEqual({
        at: expect.any(String),
        first_at: expect.any(String),
        count: expect.any(Number),
        settlement_status: 'idempotent_replay',
        replay_of: bought.body.svc.task_id,
      });
    expect(several.reduce((sum, { count }) => sum + Number(count), 0)).toBe(1_500 - SINGLES);
    const last = events.at(-1);
    expect(await entry()).toMatchObject({ replay_count: 1_500 });
    expect((await entry())?.replay_events?.at(-1)).toEqual(last?.body);
    const { replayCount, replayEvents } = await graphRow(agent);
    expect(replayCount).toBe(1_500);
    // REST leaves out members that only an event of several replays has.
    expect(replayEvents).toMatchObject((await entry())?.replay_events ?? []);
    await auditBooks(database);
    // 1,500 calls take 20 s on a quiet machine.
  }, 180_000);
});

describe('a caller whom his book refuses', () => {
  it('300 times has twenty rows and refusals, then 429 with the last of them', async () => {
    const agent = await book.newBlockedAgent();
    const asked = service.hubs[0].requests.length;
    const heard = await volley(300, async number => {
      const payment = await service.payment(agent.account, CHAT);
      return { payment, ...(await book.chat(payment, ask(`call ${number}`))) };
    });
    const refused = heard.filter(({ status }) => status === 403);
    const turnedAway = heard.filter(({ status }) => status === 429);
    expect([refused.length, turnedAway.length]).toEqual([ROWS, 300 - ROWS]);
    const urls = new Set(refused.map(({ body }) => body.refusal_url));
    expect(urls.size).toBe(ROWS);
    for (const { body, headers } of turnedAway) {
      expect(body).toMatchObject({ code: 'blocked_too_often', charged: false, policy_code: 'kill_switch' });
      const { last_refusal_url } = body as unknown as { last_refusal_url: string };
      expect(urls).toContain(last_refusal_url);
      // Nothing in this answer may be mistaken for a signed refusal of this call.
      for (const name of ['issuer_signature', 'refusal_id', 'refusal_url', 'task_id'])
        expect(body).not.toHaveProperty(name);
      expect(headers.get('x-svc-last-refusal-url')).toBe(last_refusal_url);
      expect(headers.get('x-svc-refusal-url')).toBeNull();
      expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
      expect(Number(headers.get('retry-after'))).toBeLessThanOrEqual(3_600);
    }
    expect(service.hubs[0].requests.length).toBe(asked);
    const blocked = (await book.bookOf(agent)).entries.filter(({ evidence }) => evidence === 'policy_blocked');
    expect(blocked).toHaveLength(ROWS);
    expect(await service.transfersFrom(agent.account)).toHaveLength(1);
    // A call that was answered 429 leaves no claim. A refused one keeps its claim until the payment expires.
    expect(await service.claimsOf(agent.account)).toHaveLength(1 + ROWS);

    await minutePassed(agent);
    const [last] = blocked;
    expect(await eventsOf(agent, 'blocked')).toEqual([
      {
        seq: 1 + ROWS,
        body: {
          at: expect.any(String),
          first_at: expect.any(String),
          count: 300 - ROWS,
          policy_code: 'kill_switch',
          refusal_id: last?.refusal_id,
        },
      },
    ]);
    await auditBooks(database);
    await auditRefusals(database);

    const [first, other] = turnedAway;
    const [mine] = refused;
    if (!first || !other || !mine) throw new Error('there are some');
    await book.set(agent, 'kill_switch', null);
    // The change takes effect at once, also for a payment that was answered 429 and is now sent with another request.
    expect((await book.chat(first.payment, ask('Now'))).status).toBe(200);
    expect((await service.buy(agent.account)).status).toBe(200);
    await book.set(agent, 'kill_switch', true);
    // The count of refusals starts again with a new version of the policy.
    expect((await book.chat(other.payment, ask('And now'))).status).toBe(403);
  });

  it('hears the same refusal again for a payment that has one, though calls like it are turned away', async () => {
    const agent = await book.newBlockedAgent();
    const { payment, heard } = await book.chatToRefusal(agent, ask('The first'));
    await volley(ROWS + 5, async number =>
      book.chat(await service.payment(agent.account, CHAT), ask(`filling ${number}`)),
    );
    expect(await book.chat(payment, ask('The first'))).toMatchObject({ status: 403, text: heard.text });
    const reused = await book.chat(payment, ask('For another'));
    expect(reused).toMatchObject({ status: 429, body: { code: 'blocked_too_often' } });
    // The claim was released, so the payment is checked again each time it is sent.
    await book.set(agent, 'kill_switch', null);
    expect((await book.chat(payment, ask('For another'))).status).toBe(200);
  });

  it('is told so on /graphql, in a stream and by key alike', async () => {
    const agent = await book.newBlockedAgent();
    await volley(ROWS, async number => book.chat(await service.payment(agent.account, CHAT), ask(`filling ${number}`)));
    const query = 'mutation ($input: ChatCompletionInput!) { createChatCompletion(input: $input) { id } }';
    const { headers, body } = await service.post<{ errors: { extensions: JsonObject }[] }>(
      '/graphql',
      { query, variables: { input: ask() } },
      await service.payment(agent.account, CHAT),
    );
    const { extensions } = body.errors[0] ?? {};
    expect(extensions).toMatchObject({
      code: 'blocked_too_often',
      charged: false,
      policy_code: 'kill_switch',
      last_refusal_url: expect.stringMatching(/\/refusal\/refusal_/),
      retry_after_seconds: expect.any(Number),
    });
    expect(headers.get('x-svc-last-refusal-url')).toBe(extensions?.last_refusal_url);
    const streamed = await book.chat(await service.payment(agent.account, CHAT), ask('Slowly', { stream: true }));
    expect(streamed).toMatchObject({ status: 429, body: { code: 'blocked_too_often', charged: false } });

    const key = { 'X-API-Key': 'a-live-key', 'X-SVC-Session': agent.session };
    const byKey = await service.post<RefusedCallBody>(CHAT, ask('By key'), key);
    expect(byKey).toMatchObject({ status: 429, body: { code: 'blocked_too_often', charged: false } });
    expect(await service.query('select 1 from key_call')).toEqual([]);
    await book.set(agent, 'kill_switch', null);
    expect((await service.post(CHAT, ask('By key'), key)).status).toBe(200);
  });
});

describe('a clean stop', () => {
  it('writes down what the process has counted', async () => {
    const agent = await book.newBlockedAgent();
    await volley(ROWS + 7, async number =>
      book.chat(await service.payment(agent.account, CHAT), ask(`stopping ${number}`)),
    );
    await service.gateway.stop();
    const text = `select kind, seq, count from book_counted where agent_id = $1`;
    expect(await service.query(text, [agent.agent_id])).toEqual([{ kind: 'blocked', seq: 1 + ROWS, count: 7 }]);
  });
});
