import { beforeAll, describe, expect, it } from 'vitest';
import type { z } from 'zod';
import type { BookNoun } from '../../schema/book/book-page.ts';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { onGraph } from '../harness/doors/on-graph.ts';
import { ask, type Service, sharedService } from '../harness/doors/open-service.ts';
import { policyDoorsOf } from '../harness/doors/policies.ts';

type Book = z.infer<typeof BookNoun>;
type Agent = Awaited<ReturnType<Service['newAgent']>>;

let service: Service;
/** An agent with six rows: the stamp, three chats of which two name an intent, and two calls that its kill switch refused. */
let agent: Agent;
let chats: string[];
beforeAll(async () => {
  service = await sharedService();
  agent = await service.newAgent();
  const intents: JsonObject[] = [{ intent_id: 'bill', attempt_index: 0 }, { intent_id: 'bill', attempt_index: 1 }, {}];
  chats = [];
  for (const [index, intent] of intents.entries())
    chats.push((await service.buy(agent.account, ask(`Chat ${index}`, intent))).body.svc.task_id);
  const shop = policyDoorsOf(service);
  await shop.set(agent, 'kill_switch', true);
  for (const content of ['Refused', 'Refused again'])
    expect((await service.buy(agent.account, ask(content))).status).toBe(403);
});

const headers = () => ({ 'X-SVC-Session': agent.session });
const path = (query = '') => `/v1/agents/${agent.agent_id}/book${query}`;
const read = (query: string) => service.get<Book>(path(query), headers());
const seqsOf = async (query: string) => (await read(query)).body.entries.map(({ seq }) => seq);

describe('a filtered book', () => {
  it('200 by evidence', async () => {
    expect(await seqsOf('?evidence=policy_blocked')).toEqual([6, 5]);
    expect(await seqsOf('?evidence=collected&limit=2')).toEqual([4, 3]);
  });

  it('200 by intent_id, with the intents of those rows alone', async () => {
    const { body } = await read('?intent_id=bill');
    expect(body.entries.map(({ seq }) => seq)).toEqual([3, 2]);
    expect(body.intents).toMatchObject({ bill: { collected_count: 2, blocked_count: 0, attempts_truncated: false } });
    expect((await read('?evidence=policy_blocked')).body.intents).toEqual({});
  });

  it.each<[string, number, string]>([
    ['', 6, '8000'],
    ['?limit=1', 6, '8000'],
    ['?evidence=policy_blocked', 2, '0'],
    ['?evidence=collected&limit=1', 4, '8000'],
    ['?intent_id=bill&limit=1', 2, '4000'],
    ['?from=2020-01-01&limit=2', 6, '8000'],
    ['?to=2020-01-01', 0, '0'],
    ['?seq=3', 1, '2000'],
  ])('200 by %s says what all rows that match come to, and that the totals are of the whole book', async (...row) => {
    const [query, matching_count, matching_usdc_sum] = row;
    expect((await read(query)).body).toMatchObject({
      matching_count,
      matching_usdc_sum,
      totals_cover: 'whole_book',
      totals: { count: 4, usdc_sum: '8000' },
    });
  });

  it('the graph says it too', async () => {
    const query = `{ book(agentId: ${agent.agent_id}, filter: { intentId: "bill" }, limit: 1) {
      matchingCount matchingUsdcSum totalsCover intents { attemptsTruncated } } }`;
    expect((await onGraph(service, query, {}, agent.session)).data?.book).toEqual({
      matchingCount: 2,
      matchingUsdcSum: '4000',
      totalsCover: 'whole_book',
      intents: [{ attemptsTruncated: false }],
    });
  });

  it('200 from a time on and up to one, the sums still over the whole book', async () => {
    const { entries } = (await read('')).body;
    const at = (seq: number) => entries.find(entry => entry.seq === seq)?.collected_at ?? '';
    const { body } = await read(`?from=${at(2)}&to=${at(4)}`);
    expect(body.entries.map(({ seq }) => seq)).toEqual([3, 2]);
    expect(body.totals.count).toBe(4);
    expect(await seqsOf(`?to=${at(3)}`)).toEqual([2, 1]);
    expect(await seqsOf('?from=2026-01-01&evidence=collected')).toEqual([4, 3, 2, 1]);
    expect(await seqsOf('?to=2026-01-01')).toEqual([]);
    // The same moment with another offset.
    const elsewhere = new Date(Date.parse(at(4)) + 3_600_000).toISOString().replace('Z', '%2B01:00');
    expect(await seqsOf(`?to=${elsewhere}`)).toEqual([3, 2, 1]);
  });

  it('200 with one row by task_id or by seq, and with the rows of a payment_ref', async () => {
    const { body } = await read(`?task_id=${chats[1]}`);
    expect(body.entries).toMatchObject([{ seq: 3, task_id: chats[1] }]);
    const ref = (body.entries[0] as { payment?: { ref: string } }).payment?.ref;
    expect(await seqsOf('?seq=3')).toEqual([3]);
    expect(await seqsOf(`?payment_ref=${ref}`)).toContain(3);
  });

  it('200 by before and after: every row in either direction', async () => {
    expect(await seqsOf('?limit=2&before=5')).toEqual([4, 3]);
    expect(await seqsOf('?limit=2&before=3')).toEqual([2, 1]);
    expect(await seqsOf('?limit=2&before=1')).toEqual([]);
    expect(await seqsOf('?limit=2&after=0')).toEqual([2, 1]);
    expect(await seqsOf('?limit=2&after=2')).toEqual([4, 3]);
    expect(await seqsOf('?after=2&before=5')).toEqual([4, 3]);
  });

  it('200 on POST with the filter in the query, and with a budget beside it', async () => {
    const { body } = await service.post<Book>(path('?evidence=policy_blocked'), { budget: '90000' }, headers());
    expect(body.entries.map(({ seq }) => seq)).toEqual([6, 5]);
    expect(body).toMatchObject({ cap: '90000' });
  });
});

describe('a book that is asked for wrongly', () => {
  it.each([
    ['evidence', '?evidence=stolen'],
    ['from', '?from=yesterday'],
    ['from', '?from=2026-02-30'],
    ['from', '?from=0000-01-01'],
    ['to', '?to=9999-12-31T23:59:59-23:59'],
    ['to', '?to=2026-01-01T00:00:00'],
    ['before', '?before=-1'],
    ['after', '?after=x'],
    ['after', '?after=2147483648'],
    ['seq', '?seq=1.5'],
    ['intent_id', '?intent_id='],
    ['intents', '?intents=bill'],
    ['evidences', '?limit=5&evidences=collected'],
  ])('400 naming %s: %s', async (param, query) => {
    expect(await read(query)).toMatchObject({ status: 400, body: { code: 'invalid_request', error: { param } } });
  });

  it('GraphQL refuses a limit of -1 with its bounds', async () => {
    const query = `{ book(agentId: ${agent.agent_id}, limit: -1) { entries { seq } } }`;
    const { data, errors } = await onGraph(service, query, {}, agent.session);
    expect(data).toEqual({ book: null });
    expect(errors).toMatchObject([
      {
        message: 'limit: must be a whole number from 1 to 200; a larger one counts as 200',
        extensions: { code: 'invalid_request', param: 'limit' },
      },
    ]);
  });
});
