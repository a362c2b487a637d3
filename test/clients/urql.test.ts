import { Client, cacheExchange, fetchExchange, gql } from '@urql/core';
import { beforeAll, expect, it } from 'vitest';
import { ask, type Service, sharedService } from '../harness/doors/open-service.ts';

type Agent = Awaited<ReturnType<Service['newAgent']>>;

let service: Service;
let agent: Agent;
let second: Agent;
let stranger: Agent;
const tasks: string[] = [];
beforeAll(async () => {
  service = await sharedService();
  agent = await service.newAgent();
  second = await service.newAgent();
  stranger = await service.newAgent();
  tasks.push(agent.task_id);
  for (let count = 0; count < 3; count++)
    tasks.unshift((await service.buy(agent.account, ask(`Chat ${count}`))).body.svc.task_id);
});

/** As its documentation has it. Queries go by GET as long as they are short. */
function open() {
  const methods: string[] = [];
  const kept: (string | null)[] = [];
  const client = new Client({
    url: `${service.url}/graphql`,
    exchanges: [cacheExchange, fetchExchange],
    fetchOptions: { headers: { 'X-SVC-Session': `${agent.session}, ${second.session}` } },
    fetch: async (url, init) => {
      methods.push(init?.method ?? 'GET');
      const answer = await fetch(url, init);
      kept.push(answer.headers.get('cache-control'));
      return answer;
    },
  });
  return { client, methods, kept };
}

interface Page {
  readonly book: {
    readonly cap: string | null;
    readonly rows: {
      readonly edges: readonly {
        readonly node: { readonly taskId: string; readonly evidence: string; readonly collectedAt: string };
      }[];
      readonly pageInfo: { readonly endCursor: string | null; readonly hasNextPage: boolean };
    };
  };
}

const PAGE = gql<Page>`
  query Page($agentId: Int!, $first: Int, $after: String, $filter: BookRowFilter) {
    book(agentId: $agentId) {
      agentId
      cap
      rows(first: $first, after: $after, filter: $filter) {
        edges { node { taskId evidence collectedAt } }
        pageInfo { endCursor hasNextPage }
      }
    }
  }
`;
const tasksOf = (page: Page | undefined) => page?.book.rows.edges.map(({ node }) => node.taskId);

it('books of two sessions come in one query, by GET that no cache keeps; the same again without a request', async () => {
  const { client, methods, kept } = open();
  const BOTH = gql`query ($one: Int!, $two: Int!) { one: book(agentId: $one) { agentId } two: book(agentId: $two) { agentId } }`;
  const variables = { one: agent.agent_id, two: second.agent_id };
  const heard = await client.query(BOTH, variables);
  expect(heard.error).toBeUndefined();
  expect(heard.data).toMatchObject({ one: { agentId: agent.agent_id }, two: { agentId: second.agent_id } });
  expect((await client.query(BOTH, variables)).data).toEqual(heard.data);
  expect([methods, kept]).toEqual([['GET'], ['no-store']]);
});

it('a connection is paged by its cursor', async () => {
  const { client } = open();
  const found: string[] = [];
  let after: string | null = null;
  do {
    const heard: { data?: Page; error?: Error } = await client.query(PAGE, {
      agentId: agent.agent_id,
      first: 3,
      after,
    });
    expect(heard.error).toBeUndefined();
    found.push(...(tasksOf(heard.data) ?? []));
    const { endCursor, hasNextPage } = heard.data?.book.rows.pageInfo ?? { endCursor: null, hasNextPage: false };
    after = hasNextPage ? endCursor : null;
  } while (after !== null);
  expect(found).toEqual(tasks);
});

it('a mutation of a book makes it ask for that book anew', async () => {
  const { client, methods } = open();
  const variables = { agentId: agent.agent_id, first: 1 };
  expect((await client.query(PAGE, variables)).data?.book.cap).toBeNull();
  const SET = gql`mutation ($agentId: Int!) { setBudget(agentId: $agentId, budgetAtomic: "90000") { agentId } }`;
  expect((await client.mutation(SET, { agentId: agent.agent_id })).error).toBeUndefined();
  expect((await client.query(PAGE, variables)).data?.book.cap).toBe('90000');
  expect(methods).toEqual(['GET', 'POST', 'GET']);
});

it('a refused book is null beside a good one, and the error names it', async () => {
  const { client } = open();
  const { data, error } = await client.query(
    gql`query ($mine: Int!, $other: Int!) { mine: book(agentId: $mine) { agentId } other: book(agentId: $other) { agentId } }`,
    { mine: agent.agent_id, other: stranger.agent_id },
  );
  expect(data).toMatchObject({ mine: { agentId: agent.agent_id }, other: null });
  expect(error?.graphQLErrors).toMatchObject([{ path: ['other'], extensions: { code: 'forbidden' } }]);
});

it('an enum and a DateTime go back as they came', async () => {
  const { client } = open();
  const { data } = await client.query(PAGE, { agentId: agent.agent_id });
  const [, newer, older] = data?.book.rows.edges.map(({ node }) => node) ?? [];
  const filter = { evidence: older?.evidence, from: older?.collectedAt, to: newer?.collectedAt };
  const found = await client.query(PAGE, { agentId: agent.agent_id, filter });
  expect(found.error).toBeUndefined();
  expect(tasksOf(found.data)).toEqual([tasks[2]]);
});
