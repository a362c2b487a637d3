import { afterAll, beforeAll, expect, it } from 'vitest';
import { everyDoor } from '../../rest-compat/every-door.ts';
import { aliasesOf } from '../../rest-compat/faces/openapi.ts';
import { withoutReferences } from '../harness/openapi.ts';
import { openRestFixture, type RestFixture } from '../harness/rest-compat/fake-port.ts';

let house: RestFixture;
beforeAll(async () => {
  house = await openRestFixture();
});
afterAll(() => house.close());

interface OpenApiOperation {
  readonly operationId: string;
  readonly security: Record<string, unknown>[];
  readonly parameters: { name: string; in: string; required: boolean; schema: object }[];
  readonly responses: Record<string, unknown>;
  readonly requestBody?: {
    readonly content: Record<string, { readonly schema: { readonly $ref: string } }>;
  };
}

async function described() {
  const document = (await (await house.get('/openapi.json')).json()) as {
    openapi: string;
    info: { version: string };
    paths: Record<string, Record<string, OpenApiOperation>>;
    components: object;
  };
  return withoutReferences(document);
}

it('OpenAPI 3.1, version 1.0.0, describes every door and no other', async () => {
  const { openapi, info, paths } = await described();
  expect([openapi, info.version]).toEqual(['3.1.0', '1.0.0']);
  const told = Object.entries(paths).flatMap(([path, item]) => Object.keys(item).map(method => `${method} ${path}`));
  const hung = everyDoor.flatMap(door =>
    [door.path, ...aliasesOf(door)].flatMap(path => door.methods.map(method => `${method.toLowerCase()} ${path}`)),
  );
  expect(told.sort()).toEqual(hung.sort());
  const ids = Object.values(paths).flatMap(item => Object.values(item).map(({ operationId }) => operationId));
  expect(new Set(ids).size).toBe(ids.length);
});

it('OpenAPI tells payment, possession, parameters and refusals from the columns', async () => {
  const { paths } = await described();
  const chat = paths['/v1/chat/completions']?.post;
  expect(chat?.security).toEqual([{ x402: [] }, { x402_v1: [] }, { bearer: [] }, { api_key: [] }]);
  expect(Object.keys(chat?.responses ?? {})).toEqual(
    expect.arrayContaining(['200', '400', '402', '409', '413', '503']),
  );
  expect(chat?.responses['403']).toMatchObject({
    headers: { 'x-svc-refusal-url': expect.anything(), 'Retry-After': expect.anything() },
    content: {
      'application/problem+json': {
        schema: { anyOf: ['RefusedCall', 'Problem'].map(name => ({ $ref: `#/components/schemas/${name}` })) },
      },
    },
  });
  for (const status of ['409', '500', '502', '503'])
    expect(chat?.responses[status], status).toMatchObject({
      headers: {
        'Retry-After': expect.anything(),
        'x-should-retry': expect.anything(),
        'PAYMENT-RESPONSE': { description: expect.stringContaining('settlement_pending') },
        'X-PAYMENT-RESPONSE': expect.anything(),
      },
    });
  expect(paths['/v1/models']?.get?.responses['503']).not.toHaveProperty(['headers', 'x-should-retry']);
  expect(paths['/v1/agents/register']?.post?.security).toEqual([{ x402: [] }, { x402_v1: [] }, {}]);
  const book = paths['/v1/agents/{agent_id}/book'];
  expect(book?.get?.security).toEqual([{ session: [] }, { proof: [] }]);
  expect(book?.get?.requestBody).toBeUndefined();
  expect(book?.post?.requestBody).toBeDefined();
  const filters = ['from', 'to', 'evidence', 'intent_id', 'task_id', 'delegation_hash', 'payment_ref', 'seq'];
  expect(book?.get?.parameters).toMatchObject([
    { name: 'agent_id', in: 'path', required: true, schema: { type: 'integer' } },
    ...['limit', 'before', 'after'].map(name => ({ name, in: 'query', required: false, schema: { type: 'integer' } })),
    ...filters.map(name => ({ name, in: 'query', required: false, description: expect.any(String) })),
    { name: 'X-SVC-Session', in: 'header', required: false },
    { name: 'X-SVC-Proof', in: 'header', required: false },
    { name: 'X-SVC-Nonce', in: 'header', required: false, schema: { pattern: '^[A-Za-z0-9_-]{16,64}$' } },
  ]);
  const rotation = paths['/v1/agents/{agent_id}/book/rotate']?.post;
  expect(rotation?.security).toEqual([{ session: [] }]);
  expect(rotation?.parameters.map(({ name }) => name)).toEqual(['agent_id', 'X-SVC-Session']);
});

it('OpenAPI tells of a payment that has lapsed, wherever it was made to', async () => {
  const { paths } = await described();
  for (const { path, methods } of everyDoor.filter(({ price }) => price !== null))
    for (const method of methods)
      expect(paths[path]?.[method.toLowerCase()]?.responses[409]).toMatchObject({
        description: expect.stringContaining('payment_lapsed'),
      });
});

it('OpenAPI says over what a book proof is, in both forms', async () => {
  const { components } = await described();
  const { proof } = (components as { securitySchemes: Record<string, { description: string }> }).securitySchemes;
  for (const form of [
    '`<agent_id>.<window>`',
    '`<agent_id>.<window>.<METHOD>.<path>.<sha256 hex of that canonical JSON>.<nonce>`',
    'X-SVC-Agent',
    '`{agent_id, proof, nonce}`',
  ])
    expect(proof?.description).toContain(form);
});

it('OpenAPI tells of a body what it cannot be without', async () => {
  const { paths, components } = await described();
  const { schemas } = components as { schemas: Record<string, { readonly required?: string[] }> };
  const body = (path: string) => {
    const [content] = Object.values(paths[path]?.post?.requestBody?.content ?? {});
    return schemas[content?.schema.$ref.split('/').at(-1) ?? ''];
  };
  expect(body('/v1/chat/completions')?.required).toEqual(['messages']);
  expect(body('/v1/responses')).toMatchObject({
    required: ['input'],
    properties: {
      input: {
        anyOf: [
          { type: 'string' },
          {
            items: {
              anyOf: [
                { required: ['role', 'content'] },
                { required: ['type', 'call_id', 'name', 'arguments'] },
                { required: ['type', 'call_id', 'output'] },
                { required: ['type'] },
              ],
            },
          },
        ],
      },
    },
  });
  expect(body('/v1/images/generations')?.required).toEqual(['prompt']);
  expect(body('/task-request')?.required).toEqual(['message_type', 'chain_id', 'amount', 'sender']);
  expect(body('/task-quote')?.required).toBeUndefined();
});

it('every reference of the OpenAPI document resolves', async () => {
  const document = await described();
  const text = JSON.stringify(document);
  for (const [, name] of text.matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g))
    expect(document.components).toHaveProperty(`schemas.${name}`);
  expect(text).not.toContain('"$ref":"#/definitions');
});

it('the manifest lists each paid door with the offer of its 402', async () => {
  const { resources } = (await (await house.get('/.well-known/x402')).json()) as {
    resources: { resource: string; accepts: unknown[]; price_atomic: string | null }[];
  };
  const paid = everyDoor.filter(({ price }) => price !== null);
  expect(resources.map(({ resource }) => resource)).toEqual(paid.map(({ path }) => `https://svc.test${path}`));
  expect(new Set(resources.map(({ price_atomic }) => price_atomic))).toEqual(new Set(['2000', null]));
  // Where possession is checked first, only a caller that proves it is shown the offer.
  const shut = new Set(
    paid.flatMap(({ challenge, path }) => (challenge === 'first' ? [] : [`https://svc.test${path}`])),
  );
  for (const { resource, accepts } of resources.filter(({ resource }) => !shut.has(resource))) {
    const challenge = (await (await house.get(new URL(resource).pathname)).json()) as { accepts: unknown[] };
    expect(accepts).toEqual(challenge.accepts);
  }
});
