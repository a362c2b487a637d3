import { type ExecutionResult, getIntrospectionQuery } from 'graphql';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Graph } from '../../../gateway/graph/open-graph.ts';
import { openShop, Shop, shopContext } from '../../harness/graph/shop.ts';

const log: string[] = [];
let graph: Graph;
beforeAll(async () => {
  graph = await openShop({ log });
});

/** As the wire would show it. */
async function ask(text: string, variables: Record<string, unknown> = {}, shop = new Shop()): Promise<ExecutionResult> {
  const result = await graph.execute({
    document: graph.parse(text),
    variables,
    context: shopContext(shop, { pays: true }),
  });
  return JSON.parse(JSON.stringify(result)) as ExecutionResult;
}

const codes = (result: ExecutionResult) => result.errors?.map(error => error.extensions.code);

describe('a federated query', () => {
  it('joins what two subgraphs know, in one look-up per entity', async () => {
    const shop = new Shop();
    const { data, errors } = await ask('{ sales { item slip { ref url } } }', {}, shop);
    expect(errors).toBeUndefined();
    expect(data).toEqual({
      sales: [
        { item: 'apple', slip: { ref: 'slip-1', url: 'https://shop.example/slip-1' } },
        { item: 'pear', slip: { ref: 'slip-2', url: 'https://shop.example/slip-2' } },
      ],
    });
    expect(shop.looked_up).toEqual(['slip-1', 'slip-2']);
  });

  it('answers from one subgraph with aliases, fragments, defaults and order as asked', async () => {
    const text =
      'query ($n: Int = 1) { b: sales(first: $n) { ...F p: position __typename } __typename } fragment F on Sale { name: item }';
    expect(JSON.stringify((await ask(text)).data)).toBe(
      '{"b":[{"name":"apple","p":1,"__typename":"Sale"}],"__typename":"Query"}',
    );
    expect((await ask(text, { n: 3 })).data?.b).toHaveLength(3);
  });

  it('runs the named operation of a document that has several', async () => {
    const document = graph.parse('query A { sales { item } } query B { slip(ref: "x") { url } }');
    const run = (operationName?: string) =>
      graph.execute({ document, operationName, variables: {}, context: shopContext(new Shop()) });
    expect((await run('B')).data).toMatchObject({ slip: { url: 'https://shop.example/x' } });
    expect(codes(await run())).toEqual(['invalid_request']);
  });

  it('shows the API schema to introspection, not a subgraph', async () => {
    const { data } = await ask(getIntrospectionQuery());
    expect(JSON.stringify(data)).not.toContain('_entities');
    expect(JSON.stringify(data)).toContain('"sales"');
  });

  it('refuses introspection where it is off', async () => {
    const quiet = await openShop({ introspection: false });
    const result = await quiet.execute({
      document: quiet.parse(getIntrospectionQuery()),
      variables: {},
      context: shopContext(new Shop()),
    });
    expect(codes(result)).toContain('invalid_request');
    expect(result.data).toBeUndefined();
  });
});

describe('an error of a subgraph', () => {
  it('keeps code, status, param and facts of a Refusal, alone and beside a join', async () => {
    const expected = {
      message:
        'The credential does not open this book, does not allow this request, or is no longer valid. Send a valid one.',
      path: ['closed'],
      extensions: { code: 'forbidden', status: 403, param: 'door', opens_at: '08:00' },
    };
    expect((await ask('{ closed }')).errors).toEqual([expected]);
    expect((await ask('{ closed sales { slip { url } } }')).errors).toEqual([expected]);
  });

  it('hides what broke and logs it', async () => {
    for (const text of ['{ broken }', '{ broken sales { slip { url } } }']) {
      log.length = 0;
      const result = await ask(text);
      expect(codes(result)).toEqual(['internal']);
      expect(JSON.stringify(result)).not.toContain('10.0.0.7');
      expect(log.join()).toContain('the till at 10.0.0.7 burns');
    }
  });

  it('says so when a joined entity lacks a non-null field', async () => {
    const result = await ask('{ lostSale { item slip { url } } }');
    expect(result.data).toEqual({ lostSale: { item: 'fig', slip: null } });
    expect(result.errors).toMatchObject([{ path: ['lostSale', 'slip', 'url'], extensions: { code: 'internal' } }]);
  });

  it('calls wrong variables, wrong fields and wrong syntax the request’s own fault', async () => {
    expect(codes(await ask('query ($n: Int) { sales(first: $n) { item } }', { n: 'many' }))).toEqual([
      'invalid_request',
    ]);
    expect(codes(await ask('{ nothing }'))).toEqual(['invalid_request']);
    for (const text of ['{ affords(amount: "1.5") }', '{ affords(amount: "1.5") sales { slip { url } } }']) {
      expect(codes(await ask(text))).toEqual(['invalid_request']);
    }
    const variable = await ask('query ($a: AtomicAmount!) { affords(amount: $a) }', { a: 2000 });
    expect(variable.errors).toMatchObject([
      { message: expect.stringContaining('$a'), extensions: { code: 'invalid_request' } },
    ]);
    expect(() => graph.parse('{ sales')).toThrow('Syntax Error');
    expect(() => graph.parse(`{ ${'a '.repeat(3_000)} }`)).toThrow('2000 tokens');
  });
});

describe('a paid field', () => {
  it('is known from the supergraph, with its price', () => {
    expect([...graph.paid]).toEqual([['buy', '2000']]);
  });

  it('runs where it stands alone, inside a fragment too', async () => {
    expect((await ask('mutation { buy(item: "apple") { item slip { url } } }')).data).toMatchObject({
      buy: { item: 'apple' },
    });
    expect(
      (await ask('mutation { ...F } fragment F on Mutation { buy(item: "apple") { item } }')).errors,
    ).toBeUndefined();
  });

  it.each([
    ['beside a free field', 'mutation { buy(item: "a") { item } greet }'],
    ['under two aliases', 'mutation { a: buy(item: "a") { item } b: buy(item: "b") { item } }'],
    ['twice in the same place', 'mutation { buy(item: "a") { item } buy(item: "a") { position } }'],
    ['beside a fragment', 'mutation { greet ...F } fragment F on Mutation { buy(item: "a") { item } }'],
    ['beside an inline fragment', 'mutation { ... on Mutation { greet } buy(item: "a") { item } }'],
  ])('is refused %s, and nothing is bought', async (_, text) => {
    const shop = new Shop();
    const result = await ask(text, {}, shop);
    expect(codes(result)).toEqual(['invalid_request']);
    expect(result.data).toBeUndefined();
    expect(shop.bought).toBe(0);
  });

  it('is refused by its size where fragments nest in twos, before they are walked', async () => {
    const fragments = Array.from(
      { length: 60 },
      (_, i) => `fragment F${i} on Mutation { ...F${i + 1} ...F${i + 1} }`,
    ).join(' ');
    const result = await ask(`mutation { ...F0 } ${fragments} fragment F60 on Mutation { greet }`);
    expect(codes(result)).toEqual(['query_too_costly']);
  });
});
