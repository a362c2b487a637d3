import { ApolloClient, CombinedGraphQLErrors, gql, HttpLink, InMemoryCache } from '@apollo/client';
import { GraphQLWsLink } from '@apollo/client/link/subscriptions';
import { relayStylePagination } from '@apollo/client/utilities';
import { createClient } from 'graphql-ws';
import { beforeAll, expect, it } from 'vitest';
import { ask, type Service, sharedService } from '../harness/doors/open-service.ts';
import { atEnd } from '../harness/release.ts';

type Agent = Awaited<ReturnType<Service['newAgent']>>;

let service: Service;
/** One with its stamp and four chats, one with its stamp alone, and one whose session is not shown. */
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
  for (let count = 0; count < 4; count++)
    tasks.unshift((await service.buy(agent.account, ask(`Chat ${count}`))).body.svc.task_id);
});

/** As its documentation has it: a policy for each key, and Relay's for the connection. */
function cacheByKeys() {
  return new InMemoryCache({
    typePolicies: {
      Agent: { keyFields: ['agentId'] },
      Book: { keyFields: ['agentId'], fields: { rows: relayStylePagination(['filter']) } },
      BookRow: { keyFields: ['agentId', 'seq'] },
      Receipt: { keyFields: ['taskId'] },
      Query: {
        fields: {
          receipt: (known, { args, toReference }) =>
            known ?? toReference({ __typename: 'Receipt', taskId: args?.taskId }),
        },
      },
    },
  });
}

function open() {
  let requests = 0;
  const link = new HttpLink({
    uri: `${service.url}/graphql`,
    headers: { 'X-SVC-Session': `${agent.session}, ${second.session}` },
    fetch: (...asked) => {
      requests++;
      return fetch(...asked);
    },
  });
  const cache = cacheByKeys();
  return { client: new ApolloClient({ link, cache }), cache, requests: () => requests };
}

interface Row {
  readonly seq: number;
  readonly taskId: string;
  readonly evidence: string;
  readonly collectedAt: string;
}
interface Page {
  readonly book: { readonly rows: { readonly edges: readonly { readonly node: Row }[]; readonly pageInfo: PageInfo } };
}
interface PageInfo {
  readonly endCursor: string | null;
  readonly hasNextPage: boolean;
}

const PAGE = gql`
  query Page($agentId: Int!, $first: Int, $after: String, $filter: BookRowFilter) {
    book(agentId: $agentId) {
      agentId
      rows(first: $first, after: $after, filter: $filter) {
        edges { cursor node { agentId seq taskId evidence collectedAt receipt { taskId proofOutcome issuedAt } } }
        pageInfo { endCursor hasNextPage }
      }
    }
  }
`;
const tasksOf = (page: unknown) => (page as Page).book.rows.edges.map(({ node }) => node.taskId);

it('two books of two sessions, and the viewer of both, are one object each in the cache', async () => {
  const { client, cache } = open();
  const variables = { one: agent.agent_id, two: second.agent_id };
  await client.query({
    query: gql`
      query ($one: Int!, $two: Int!) {
        one: book(agentId: $one) { agentId spent agent { agentId } }
        two: book(agentId: $two) { agentId spent agent { agentId } }
        viewer { agents { agentId } books { agentId cap } }
      }
    `,
    variables,
  });
  const known = cache.extract();
  const keys = Object.keys(known).filter(key => !/^(ROOT_QUERY|__META)$/.test(key));
  const expected = [agent, second].flatMap(({ agent_id }) => [
    `Agent:{"agentId":${agent_id}}`,
    `Book:{"agentId":${agent_id}}`,
  ]);
  expect(keys.sort()).toEqual(expected.sort());
  expect(known[`Book:{"agentId":${agent.agent_id}}`]).toMatchObject({
    spent: expect.stringMatching(/^\d+$/),
    cap: null,
  });
});

it('pages of a connection merge by cursor, and the whole of it is read without a request', async () => {
  const { client, requests } = open();
  const page = client.watchQuery({ query: PAGE, variables: { agentId: agent.agent_id, first: 2 } });
  const watched = page.subscribe(() => {});
  await expect.poll(() => page.getCurrentResult().loading).toBe(false);
  let { data } = page.getCurrentResult() as { data: unknown };
  for (;;) {
    const { endCursor, hasNextPage } = (data as Page).book.rows.pageInfo;
    if (!hasNextPage) break;
    ({ data } = await page.fetchMore({ variables: { after: endCursor } }));
  }
  await expect.poll(() => tasksOf(page.getCurrentResult().data)).toEqual(tasks);
  expect(requests()).toBe(3);
  const again = await client.query({ query: PAGE, variables: { agentId: agent.agent_id, first: 2 } });
  expect([tasksOf(again.data), requests()]).toEqual([tasks, 3]);
  watched.unsubscribe();
});

it('a receipt that came with a row is the one that is asked for by its task', async () => {
  const { client, requests } = open();
  await client.query({ query: PAGE, variables: { agentId: agent.agent_id, first: 1 } });
  const RECEIPT = gql`query ($taskId: String!) { receipt(taskId: $taskId) { taskId proofOutcome issuedAt } }`;
  const { data } = await client.query({ query: RECEIPT, variables: { taskId: tasks[0] } });
  expect(data).toMatchObject({ receipt: { taskId: tasks[0], proofOutcome: 'settled' } });
  expect(requests()).toBe(1);
  await client.query({ query: RECEIPT, variables: { taskId: tasks[1] } });
  expect(requests()).toBe(2);
});

it('a mutation that answers with the book changes what was read of it before', async () => {
  const { client, requests } = open();
  const CAP = gql`query ($agentId: Int!) { book(agentId: $agentId) { agentId cap } }`;
  const variables = { agentId: second.agent_id };
  expect((await client.query({ query: CAP, variables })).data).toMatchObject({ book: { cap: null } });
  const SET = gql`mutation ($agentId: Int!) { setBudget(agentId: $agentId, budgetAtomic: "90000") { agentId cap } }`;
  await client.mutate({ mutation: SET, variables });
  expect((await client.query({ query: CAP, variables })).data).toMatchObject({ book: { cap: '90000' } });
  expect(requests()).toBe(2);
});

it('a refused book is null beside a good one, and the error names it', async () => {
  const { client } = open();
  const { data, error } = await client.query({
    query: gql`
      query ($mine: Int!, $other: Int!) {
        mine: book(agentId: $mine) { agentId }
        other: book(agentId: $other) { agentId }
      }
    `,
    variables: { mine: agent.agent_id, other: stranger.agent_id },
    errorPolicy: 'all',
  });
  expect(data).toMatchObject({ mine: { agentId: agent.agent_id }, other: null });
  const errors = CombinedGraphQLErrors.is(error) ? error.errors : [];
  expect(errors).toMatchObject([{ path: ['other'], extensions: { code: 'forbidden' } }]);
});

it('an enum and a DateTime go back as they came', async () => {
  const { client } = open();
  const whole = (await client.query({ query: PAGE, variables: { agentId: agent.agent_id } })).data as Page;
  const [, newer, , older] = whole.book.rows.edges.map(({ node }) => node);
  if (!newer || !older) throw new Error('the book has too few rows');
  expect(new Date(older.collectedAt).toISOString()).toBe(older.collectedAt);
  const filter = { evidence: older.evidence, from: older.collectedAt, to: newer.collectedAt };
  const { data } = await client.query({ query: PAGE, variables: { agentId: agent.agent_id, filter } });
  expect(tasksOf(data)).toEqual([tasks[2], tasks[3]]);
});

it('rows of both books come over one socket, what is bought meanwhile too, and are objects of the cache', async () => {
  const socket = createClient({
    url: `${service.url.replace(/^http/, 'ws')}/graphql`,
    connectionParams: { sessions: [agent.session, second.session] },
  });
  atEnd(() => socket.dispose());
  const cache = cacheByKeys();
  const client = new ApolloClient({ link: new GraphQLWsLink(socket), cache });
  const LIVE = gql`
    subscription ($agentId: Int!) { bookRows(agentId: $agentId, after: 0) { position row { agentId seq taskId } } }
  `;
  const faults: unknown[] = [];
  const following = [agent, second].map(({ agent_id }) =>
    client
      .subscribe({ query: LIVE, variables: { agentId: agent_id } })
      .subscribe({ next: ({ error }) => void (error && faults.push(error)), error: fault => void faults.push(fault) }),
  );
  const rowOf = ({ agent_id }: Agent, seq: number) => cache.extract()[`BookRow:{"agentId":${agent_id},"seq":${seq}}`];
  await expect.poll(() => rowOf(agent, 5)).toMatchObject({ taskId: tasks[0] });
  await expect.poll(() => rowOf(second, 1)).toMatchObject({ taskId: second.task_id });
  const bought = await service.buy(second.account, ask('While they follow'));
  await expect.poll(() => rowOf(second, 2)).toMatchObject({ taskId: bought.body.svc.task_id });
  expect(faults).toEqual([]);
  for (const followed of following) followed.unsubscribe();
});
