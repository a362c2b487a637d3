import { beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { onGraph } from '../harness/doors/on-graph.ts';
import { ask, type Service, sharedService } from '../harness/doors/open-service.ts';
import { policyDoorsOf } from '../harness/doors/policies.ts';

type Agent = Awaited<ReturnType<Service['newAgent']>>;
interface Connection {
  readonly edges: readonly { readonly cursor: string; readonly node: { readonly seq: number } }[];
  readonly pageInfo: JsonObject;
}
interface Answer {
  readonly data: Record<string, JsonObject | null> | null;
  readonly errors?: readonly { readonly path?: readonly string[]; readonly extensions: JsonObject }[];
}

let service: Service;
/** An agent with the stamp on its book, four chats, and one that the book refused. */
let agent: Agent;
let other: Agent;
beforeAll(async () => {
  service = await sharedService();
  [agent, other] = [await service.newAgent(), await service.newAgent()];
  for (const intent_id of ['one', 'two', 'one', 'two']) await service.buy(agent.account, ask(intent_id, { intent_id }));
  const shop = policyDoorsOf(service);
  await shop.set(agent, 'kill_switch', true);
  await shop.chatToRefusal(agent);
});

const graph = async (query: string, variables: JsonObject = {}, session: string | null = agent.session) =>
  (await onGraph(service, query, { agentId: agent.agent_id, ...variables }, session)).body as Answer;

describe('viewer', () => {
  const VIEWER = '{ viewer { agents { agentId wallet } books { agentId spent agent { wallet } entries { seq } } } }';

  it('is all that the caller possesses', async () => {
    const { data, errors } = await graph(VIEWER);
    expect(errors).toBeUndefined();
    const wallet = agent.account.address;
    const entries = [6, 5, 4, 3, 2, 1].map(seq => ({ seq }));
    const book = { agentId: agent.agent_id, spent: '10000', agent: { wallet }, entries };
    expect(data?.viewer).toEqual({ agents: [{ agentId: agent.agent_id, wallet }], books: [book] });
  });

  it('is several agents where several sessions came along, each with its book', async () => {
    const { data, errors } = await graph(VIEWER, {}, `${agent.session}, ${other.session}`);
    expect(errors).toBeUndefined();
    const { agents, books } = (data?.viewer ?? {}) as unknown as Record<string, { agentId: number }[]>;
    for (const found of [agents, books])
      expect(found?.map(({ agentId }) => agentId).sort()).toEqual([agent.agent_id, other.agent_id]);
  });

  it('is nobody without a session', async () => {
    expect(await graph(VIEWER, {}, null)).toEqual({ data: { viewer: null } });
  });
});

describe('what hangs together', () => {
  const AGENT =
    'query ($agentId: Int!) { agent(agentId: $agentId) { wallet book(limit: 2) { limit entries { seq } } } }';

  it('an agent has its book, for whoever possesses it', async () => {
    const { data } = await graph(AGENT);
    expect(data?.agent).toEqual({
      wallet: agent.account.address,
      book: { limit: 2, entries: [{ seq: 6 }, { seq: 5 }] },
    });
  });

  it('an agent stands without its book for all others, who hear why', async () => {
    const { data, errors } = await graph(AGENT, {}, other.session);
    expect(data?.agent).toEqual({ wallet: agent.account.address, book: null });
    expect(errors).toMatchObject([{ extensions: { code: 'forbidden' } }]);
  });

  it('a receipt has its row for whoever possesses the book, and none for all others', async () => {
    const RECEIPT =
      'query ($taskId: String!) { receipt(taskId: $taskId) { bookSeq row { seq evidence receipt { jws } } } }';
    const { data } = await graph(RECEIPT, { taskId: agent.task_id });
    expect(data?.receipt).toMatchObject({ bookSeq: 1, row: { seq: 1, evidence: 'collected' } });
    for (const session of [other.session, null])
      expect(await graph(RECEIPT, { taskId: agent.task_id }, session)).toEqual({
        data: { receipt: { bookSeq: 1, row: null } },
      });
  });

  it('the row of the receipt of a row is that row', async () => {
    const { data } = await graph(
      'query ($agentId: Int!) { book(agentId: $agentId) { entries { seq receipt { row { seq } } } } }',
    );
    const { entries } = (data?.book ?? {}) as unknown as {
      entries: { seq: number; receipt: { row: { seq: number } } | null }[];
    };
    expect(entries.map(({ receipt }) => receipt?.row.seq ?? null)).toEqual([null, 5, 4, 3, 2, 1]);
  });

  it('one row by its task or its seq', async () => {
    const { data } = await graph(
      `query ($agentId: Int!, $taskId: String!) { book(agentId: $agentId) {
        task: row(taskId: $taskId) { seq } seq: row(seq: 6) { evidence } none: row(seq: 7) { seq } } }`,
      { taskId: agent.task_id },
    );
    expect(data?.book).toEqual({ task: { seq: 1 }, seq: { evidence: 'policy_blocked' }, none: null });
  });
});

describe('rows as a connection', () => {
  const ROWS = `query ($agentId: Int!, $first: Int, $after: String, $last: Int, $before: String, $filter: BookRowFilter) {
    book(agentId: $agentId) { rows(first: $first, after: $after, last: $last, before: $before, filter: $filter) {
      edges { cursor node { seq } } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } } }`;
  async function rows(variables: JsonObject) {
    const { data, errors } = await graph(ROWS, variables);
    expect(errors).toBeUndefined();
    const { rows: found } = (data?.book ?? {}) as unknown as { rows: Connection };
    return { ...found, seqs: found.edges.map(({ node }) => node.seq) };
  }

  it('goes from the newest to the oldest by first and after', async () => {
    const one = await rows({ first: 4 });
    expect([one.seqs, one.pageInfo.hasNextPage, one.pageInfo.hasPreviousPage]).toEqual([[6, 5, 4, 3], true, false]);
    const two = await rows({ first: 4, after: one.pageInfo.endCursor ?? '' });
    expect([two.seqs, two.pageInfo.hasNextPage, two.pageInfo.hasPreviousPage]).toEqual([[2, 1], false, true]);
    expect((await rows({ first: 1, after: two.pageInfo.endCursor ?? '' })).pageInfo).toMatchObject({ endCursor: null });
  });

  it('goes back by last and before', async () => {
    const oldest = await rows({ last: 2 });
    expect([oldest.seqs, oldest.pageInfo.hasNextPage, oldest.pageInfo.hasPreviousPage]).toEqual([[2, 1], false, true]);
    const ahead = await rows({ last: 4, before: oldest.pageInfo.startCursor ?? '' });
    expect([ahead.seqs, ahead.pageInfo.hasNextPage, ahead.pageInfo.hasPreviousPage]).toEqual([
      [6, 5, 4, 3],
      true,
      false,
    ]);
  });

  it('holds what the filter names', async () => {
    expect((await rows({ filter: { intentId: 'one' } })).seqs).toEqual([4, 2]);
    const one = await rows({ first: 1, filter: { evidence: 'collected' } });
    expect((await rows({ first: 9, after: one.pageInfo.endCursor ?? '', filter: { intentId: 'two' } })).seqs).toEqual([
      3,
    ]);
  });

  it.each([
    ['first', { first: 0 }],
    ['last', { last: -1 }],
    ['last', { first: 1, last: 1 }],
    ['after', { after: 'nowhere' }],
    ['before', { before: Buffer.from('seq:99999999999').toString('base64url') }],
  ])('400 on %s in %j', async (param, variables) => {
    expect((await graph(ROWS, variables)).errors).toMatchObject([{ extensions: { code: 'invalid_request', param } }]);
  });
});

describe('totals of a book', () => {
  const TOTALS = `query ($agentId: Int!, $by: [TotalsBy!]!, $from: DateTime, $to: DateTime) { book(agentId: $agentId) {
    totalsBy(by: $by, from: $from, to: $to) { by period key rail count amount } } }`;
  const totals = async (variables: JsonObject) => {
    const { data, errors } = await graph(TOTALS, variables);
    expect(errors).toBeUndefined();
    return ((data?.book ?? {}) as unknown as { totalsBy: JsonObject[] }).totalsBy;
  };
  const all = { rail: 'usdc', count: 5, amount: '10000', period: null };

  it('by model, hub, intent, payer and network', async () => {
    const found = await totals({ by: ['INTENT', 'NETWORK', 'PAYER'] });
    const two = { ...all, by: 'INTENT', count: 2, amount: '4000' };
    expect(found).toEqual([
      { ...two, key: 'one' },
      { ...two, key: 'two' },
      { ...all, by: 'INTENT', key: null, count: 1, amount: '2000' },
      { ...all, by: 'NETWORK', key: 'base' },
      { ...all, by: 'PAYER', key: agent.account.address },
    ]);
    const sums = await totals({ by: ['MODEL', 'HUB'] });
    for (const by of ['MODEL', 'HUB'])
      expect(sums.filter(it => it.by === by).reduce((sum, { amount }) => sum + BigInt(String(amount)), 0n)).toBe(
        10_000n,
      );
  });

  it('by day and hour, within a window', async () => {
    const days = await totals({ by: ['DAY'] });
    expect(days.reduce((sum, { count }) => sum + Number(count), 0)).toBe(5);
    expect(days[0]).toMatchObject({ by: 'DAY', key: null, period: expect.stringMatching(/T00:00:00\.000Z$/) });
    const hours = await totals({ by: ['HOUR'], from: days[0]?.period ?? null });
    expect(hours.reduce((sum, { count }) => sum + Number(count), 0)).toBe(5);
    expect(await totals({ by: ['DAY', 'MODEL'], to: days[0]?.period ?? null })).toEqual([]);
  });

  it.each([
    ['from', { by: ['DAY'], from: '2026-01-01T12:00:00Z' }],
    ['to', { by: ['HOUR'], to: '2026-01-01T12:30:00Z' }],
  ])('400 on %s in %j: sums are kept by whole hours and days', async (param, variables) => {
    expect((await graph(TOTALS, variables)).errors).toMatchObject([{ extensions: { code: 'invalid_request', param } }]);
  });
});
