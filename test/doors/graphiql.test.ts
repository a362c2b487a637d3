import { buildSchema, type GraphQLObjectType } from 'graphql';
import { beforeAll, describe, expect, it } from 'vitest';
import { openService, type Service } from '../harness/doors/open-service.ts';

let service: Service;
/** A service without introspection, as in production. */
let shut: Service;
beforeAll(async () => {
  service = await openService({ INTROSPECTION: 'on' });
  shut = await openService({ INTROSPECTION: 'off' });
});

const browses = { headers: { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' } };

describe('GET /graphql by a browser', () => {
  it('comes under a policy that lets it reach nobody else', async () => {
    const { status, headers } = await fetch(`${service.url}/graphql`, browses);
    expect([status, headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    const policy = headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toMatch(/https?:|\*|unsafe-eval/);
  });

  it('brings its files packed, and not again to whoever has them', async () => {
    const url = `${service.url}/graphql/graphiql/start.js`;
    const { status, headers } = await fetch(url);
    expect([status, headers.get('content-encoding')]).toEqual([200, 'gzip']);
    const again = await fetch(url, { headers: { 'if-none-match': headers.get('etag') ?? '' } });
    expect([again.status, await again.text()]).toEqual([304, '']);
    expect((await fetch(`${service.url}/graphql/graphiql/none.js`)).status).toBe(404);
  });

  it('is a query where one is asked', async () => {
    const query = encodeURIComponent('{ models { id } }');
    const headers = { ...browses.headers, 'apollo-require-preflight': 'yes' };
    const answer = await fetch(`${service.url}/graphql?query=${query}`, { headers });
    expect(answer.headers.get('content-type')).toContain('json');
  });

  it('is no page where introspection is off', async () => {
    const answer = await fetch(`${shut.url}/graphql`, browses);
    expect([answer.status, answer.headers.get('content-type')]).toEqual([400, expect.not.stringContaining('html')]);
    expect((await fetch(`${shut.url}/graphql/graphiql/start.js`)).status).toBe(404);
  });
});

describe('GET /graphql?sdl', () => {
  it('is the schema as clients see it, also where introspection is off', async () => {
    const answer = await fetch(`${shut.url}/graphql?sdl`);
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/plain; charset=utf-8']);
    const sdl = await answer.text();
    const schema = buildSchema(sdl);
    expect(Object.keys(schema.getQueryType()?.getFields() ?? {})).toContain('book');
    expect(schema.getSubscriptionType()?.getFields().bookRows?.description).toContain('Events of a book');
    expect(sdl).not.toMatch(/@?join__|@link|@key|@cost|@listSize|_entities|_service/);
    const hidden = await shut.post('/graphql', { query: '{ __schema { types { name } } }' });
    expect(hidden.status).toBe(400);
  });

  it('shows what costs money, and how much', async () => {
    const schema = buildSchema(await (await fetch(`${shut.url}/graphql?sdl`)).text());
    const { createChatCompletion, setBookPolicy } = (schema.getMutationType() as GraphQLObjectType).getFields();
    expect(createChatCompletion?.astNode?.directives?.[0]).toMatchObject({
      name: { value: 'paid' },
      arguments: [{ value: { value: '2000' } }],
    });
    expect(setBookPolicy?.astNode?.directives).toEqual([]);
  });

  it('304 for whoever has it still', async () => {
    const etag = (await fetch(`${shut.url}/graphql?sdl`)).headers.get('etag') ?? '';
    expect(etag).toMatch(/^W\/"[0-9a-f]{32}"$/);
    const again = await fetch(`${shut.url}/graphql?sdl`, { headers: { 'if-none-match': `"other", ${etag}` } });
    expect([again.status, await again.text(), again.headers.get('etag')]).toEqual([304, '', etag]);
  });
});
