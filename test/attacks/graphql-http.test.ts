import { getIntrospectionQuery } from 'graphql';
import { beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { limits } from '../../schema/limits.ts';
import { costly, cycle, tenPages, wholePage } from '../harness/attacks/documents.ts';
import { openService, type Service } from '../harness/doors/open-service.ts';

let service: Service;
beforeAll(async () => {
  service = await openService({ INTROSPECTION: 'off' });
});

interface Result {
  readonly data?: JsonObject | null;
  readonly errors?: readonly { readonly message: string; readonly extensions: JsonObject }[];
}

const post = (body: unknown, headers: Record<string, string> = {}) =>
  service.knock<Result>('POST', '/graphql', { body, headers });
const get = (members: Record<string, string>) =>
  service.knock<Result>('GET', `/graphql?${new URLSearchParams(members)}`, {
    headers: { 'apollo-require-preflight': '1' },
  });
const many = (count: number, part: (index: number) => string) =>
  Array.from({ length: count }, (_, i) => part(i)).join(' ');
const inLists = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`;
const SET =
  'mutation Set($value: JSON) { setBookPolicy(agentId: 1, policyType: "kill_switch", value: $value) { agentId } }';

describe('POST /graphql, what asks for too much', () => {
  it.each(costly)('400 on %s, which names the limit', async (_, limit, query) => {
    const { status, body, headers } = await post({ query });
    expect([status, headers.get('cache-control'), Object.keys(body)]).toEqual([400, 'no-store', ['errors']]);
    expect(body.errors).toHaveLength(1);
    const { extensions } = body.errors?.[0] ?? {};
    expect(extensions).toMatchObject({ code: 'query_too_costly', status: 400, limit });
    expect(Number(extensions?.found)).toBeGreaterThan(Number(extensions?.max));
  });

  it('by GET it is the same', async () => {
    for (const [, limit, query] of costly.filter(([, , text]) => text.length < 8_000)) {
      expect(await get({ query })).toMatchObject({ status: 400, body: { errors: [{ extensions: { limit } }] } });
    }
  });

  it('400 on ten pages of as many rows as a variable says, and not where it says few', async () => {
    const query = `query Pages($limit: Int) ${tenPages('$limit')}`;
    const refused = { errors: [{ extensions: { code: 'query_too_costly', limit: 'cost' } }] };
    expect(await post({ query, variables: { limit: 200 } })).toMatchObject({ status: 400, body: refused });
    expect(await get({ query, variables: '{"limit":200}' })).toMatchObject({ status: 400, body: refused });
    expect((await post({ query, variables: { limit: 5 } })).body.errors?.[0]?.extensions.code).toBe('unauthenticated');
  });

  it('one page of 200 rows with everything is nobody to refuse but its owner', async () => {
    const { body } = await post({ query: wholePage, variables: { limit: 200 } });
    expect(body.errors).toMatchObject([{ extensions: { code: 'unauthenticated' } }]);
  });

  it.each([1, 2, 40])('400 on a cycle of %i fragments', async length => {
    const { status, body } = await post({ query: cycle(length) });
    expect([status, body.errors]).toMatchObject([400, [{ message: 'Fragment "f0" spreads itself.' }]]);
  });

  it('400 on 1,000 aliases, which are not even read', async () => {
    const { status, body } = await post({ query: `{ ${many(1_000, i => `a${i}: __typename`)} }` });
    expect([status, body.errors?.[0]?.extensions.code]).toEqual([400, 'invalid_request']);
  });

  it('in the media type that was asked for', async () => {
    const accept = 'application/graphql-response+json';
    const { headers } = await post({ query: cycle(1) }, { accept });
    expect(headers.get('content-type')).toContain(accept);
  });
});

describe('POST /graphql, several at once', () => {
  it.each([1, 2, 100])('400 on a list of %i operations, and none runs', async count => {
    const one = { query: 'mutation { setBudget(agentId: 1, budgetAtomic: "1") { cap } }' };
    const { status, body } = await post(Array.from({ length: count }, () => one));
    expect([status, body]).toEqual([
      400,
      {
        errors: [
          {
            message: 'A request must contain one operation. A list of operations is not accepted.',
            extensions: { code: 'invalid_request', status: 400 },
          },
        ],
      },
    ]);
  });

  it('400 on several operations of which none is named', async () => {
    const { body } = await post({ query: 'query a { __typename } query b { __typename }' });
    expect(body.errors?.[0]?.extensions).toMatchObject({ code: 'invalid_request' });
  });
});

describe('POST /graphql, variables', () => {
  it.each<[string, string, string]>([
    ['lists in each other 55 deep', 'variables_depth', inLists(55)],
    ['objects in each other 50 deep', 'variables_depth', `${'{"a":'.repeat(50)}1${'}'.repeat(50)}`],
    ['40,000 values', 'variables_values', JSON.stringify(Array.from({ length: 40_000 }, () => 0))],
    ['a text of 500 KB', 'variables_chars', JSON.stringify('x'.repeat(500_000))],
  ])('400 on %s', async (_, limit, value) => {
    const { status, body } = await post(`{"query":${JSON.stringify(SET)},"variables":{"value":${value}}}`);
    expect([status, body.errors?.[0]?.extensions]).toMatchObject([400, { code: 'query_too_costly', limit }]);
  });

  it.each([
    ['lists in each other 200,000 deep', inLists(200_000)],
    ['100,000 values', JSON.stringify(Array.from({ length: 100_000 }, () => 0))],
  ])('400 on %s, before they are parsed', async (_, value) => {
    const { status, body } = await post(`{"query":${JSON.stringify(SET)},"variables":{"value":${value}}}`);
    expect([status, body.errors?.[0]?.extensions]).toMatchObject([400, { code: 'invalid_request' }]);
  });

  it('a long message is for its price to refuse: 402', async () => {
    const query = 'mutation Buy($input: ChatCompletionInput!) { createChatCompletion(input: $input) { model } }';
    const input = { messages: [{ role: 'user', content: 'x'.repeat(500_000) }] };
    expect((await post({ query, variables: { input } })).status).toBe(402);
  });

  it('413 beyond 1 MiB', async () => {
    expect((await post({ query: SET, variables: { value: 'x'.repeat(limits.request_bytes_max) } })).status).toBe(413);
  });

  it.each(['{"__proto__":{"polluted":1}}', '{"a":[{"__proto__":1}]}', '{"constructor":{"prototype":{"polluted":1}}}'])(
    'member names that reach for prototypes are refused: %s',
    async value => {
      const { status, body } = await post(`{"query":${JSON.stringify(SET)},"variables":{"value":${value}}}`);
      expect([status, body.errors?.[0]?.extensions.code]).toEqual([400, 'invalid_request']);
    },
  );
});

describe('what the schema is, where introspection is off', () => {
  it.each([
    ['the official query', getIntrospectionQuery()],
    ['__schema', '{ __schema { queryType { name } } }'],
    ['__type in a fragment', '{ ...a } fragment a on Query { __type(name: "Query") { name } }'],
  ])('%s is refused', async (_, query) => {
    const { status, body } = await post({ query });
    expect([status, body.errors?.[0]?.extensions.code, body.data]).toEqual([400, 'invalid_request', undefined]);
  });

  it('__typename is answered', async () => {
    expect((await post({ query: '{ __typename }' })).body).toEqual({ data: { __typename: 'Query' } });
  });

  it.each<[string, string, JsonObject?]>([
    ['a field', '{ bok }'],
    ['a field of a type', '{ agent(agentId: 1) { walet } }'],
    ['a field without its fields', '{ models }'],
    ['an argument', '{ agent(agentID: 1) { wallet } }'],
    ['a type', '{ ... on Quer { __typename } }'],
    ['a directive', '{ __typename @skipp(if: true) }'],
    ['a member of an input', 'mutation { registerAgent(input: { agentWalet: "0x" }) { taskId } }'],
    [
      'a member of a variable',
      'mutation R($input: RegisterAgentInput!) { registerAgent(input: $input) { taskId } }',
      { input: { agentWallet: '0x', taskID: 'x' } },
    ],
    ['the subgraphs behind', '{ _service { sdl } }'],
    ['their entities', '{ _entities(representations: []) { __typename } }'],
  ])('no name is suggested for %s that is not there', async (_, query, variables = {}) => {
    const { text, body } = await post({ query, variables });
    expect(body.errors?.[0]?.extensions).toMatchObject({ code: 'invalid_request', status: 400 });
    expect(text).not.toMatch(/did you mean|serviceName/i);
  });

  it('a name of 500 KB is not told back, and a thousand wrong names are told a few times', async () => {
    const long = await post({ query: `{ ${'x'.repeat(500_000)} }` });
    expect([long.status, long.text.length < 2_000]).toEqual([400, true]);
    const wrong = await post({ query: `{ agent(agentId: 1) { ${many(200, i => `x${i}`)} } }` });
    expect(wrong.body.errors?.length).toBe(limits.graphql_faults_max + 1);
  });
});

it('others are served after all of it', async () => {
  expect((await post({ query: '{ models { id } }' })).body.data).toMatchObject({ models: expect.anything() });
});
