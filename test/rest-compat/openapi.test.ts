import { createConfig, lintFromString } from '@redocly/openapi-core';
import { Spectral } from '@stoplight/spectral-core';
import { oas } from '@stoplight/spectral-rulesets';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { describe, expect, it } from 'vitest';
import { everyDoor } from '../../rest-compat/every-door.ts';
import { aliasesOf, openApi } from '../../rest-compat/faces/openapi.ts';
import { isJsonObject, type JsonObject } from '../../schema/canonical-json.ts';
import { type DescribedResponse, withoutReferences } from '../harness/openapi.ts';

interface Operation {
  readonly parameters: readonly { readonly name: string; readonly required: boolean; readonly description?: string }[];
  readonly requestBody?: { readonly required: boolean };
  readonly responses: Readonly<Record<string, DescribedResponse>>;
}
interface Description {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, JsonObject>> };
}

const text = JSON.stringify(openApi(everyDoor, 'https://svc.test'));
const { paths, components } = withoutReferences(JSON.parse(text) as Description);
const operations = Object.entries(paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
);

describe('the OpenAPI document', () => {
  it('passes spectral but for an address to write to, which nobody has configured', async () => {
    const spectral = new Spectral();
    spectral.setRuleset({ extends: [[oas as never, 'recommended']] });
    const found = await spectral.run(text);
    expect(found.map(({ code, path }) => `${code} ${path.join('/')}`)).toEqual(['info-contact info']);
  });

  it('passes redocly at its strictest', async () => {
    const config = await createConfig({ extends: ['recommended-strict'] });
    const found = await lintFromString({ source: text, absoluteRef: '/openapi.json', config });
    expect(found.map(({ ruleId, message }) => `${ruleId}: ${message}`)).toEqual([]);
  });

  it('holds schemas that a strict validator of JSON Schema 2020-12 compiles, each of them', () => {
    const compiling = { strict: true, allowUnionTypes: true, strictTuples: false };
    // The compiled code is never run, so it need not be optimized.
    const ajv = new Ajv2020({ ...compiling, code: { optimize: false } });
    formats.default(ajv);
    // Members that OpenAPI adds around its schemas are not keywords of the schemas.
    ajv.addVocabulary(Object.keys(JSON.parse(text)));
    ajv.addSchema(JSON.parse(text), 'openapi');
    // Schemas by their text: references start at the root, so they are the same everywhere.
    const schemas = new Map(
      schemasIn(JSON.parse(text), '#').map(({ schema, pointer }) => [JSON.stringify(schema), pointer]),
    );
    expect(schemas.size).toBeGreaterThan(100);
    for (const pointer of schemas.values()) expect(ajv.getSchema(`openapi${pointer}`), pointer).toBeDefined();
  });

  it('names what it speaks of more than once', () => {
    const named = [
      'Book',
      'BookEntry',
      'BookPolicy',
      'ChatCompletion',
      'Challenge',
      'Problem',
      'Receipt',
      'ReceiptPayload',
      'Refusal',
    ];
    expect(Object.keys(components.schemas)).toEqual(expect.arrayContaining(named));
    const answer = (path: string, status = '200') =>
      paths[path]?.get?.responses[status]?.content?.[
        status === '200' ? 'application/json' : 'application/problem+json'
      ];
    const refers = (name: string) => ({ schema: { $ref: `#/components/schemas/${name}` } });
    const either = (...names: string[]) => ({ schema: { anyOf: names.map(name => refers(name).schema) } });
    expect(answer('/receipt/{task_id}')).toEqual(either('Receipt', 'ReceiptAudit'));
    expect(answer('/receipt/{id}/preimage')).toEqual(refers('ReceiptPayload'));
    expect(answer('/refusal/{refusal_id}')).toEqual(either('Refusal', 'RefusalAudit'));
    expect(answer('/v1/agents/{agent_id}/book')).toEqual(refers('Book'));
    expect(answer('/v1/models', '500')).toEqual(refers('Problem'));
    expect(components.schemas.Book).toMatchObject({
      properties: { entries: { items: { $ref: '#/components/schemas/BookEntry' } } },
    });
    // No answer, event or body is described inline: a generator would have to invent its name.
    for (const { path, operation } of operations)
      for (const shape of shapesOf(operation)) expect(shape, path).not.toHaveProperty('properties');
  });

  it('writes no response, header or parameter twice', () => {
    const document = JSON.parse(text) as Description & { components: Record<string, Record<string, JsonObject>> };
    const written = Object.values(document.paths).flatMap(item =>
      Object.values(item).flatMap(({ parameters, responses }) => [
        ...parameters,
        ...Object.values(responses),
        ...Object.values(responses).flatMap(({ headers = {} }) => Object.values(headers)),
      ]),
    );
    const { responses = {}, headers = {}, parameters = {} } = document.components;
    const shared = [responses, headers, parameters].flatMap(Object.values);
    const texts = [...written.filter(part => !isJsonObject(part) || !('$ref' in part)), ...shared].map(part =>
      JSON.stringify(part),
    );
    expect(texts.filter((part, at) => texts.indexOf(part) !== at)).toEqual([]);
    expect(text.length).toBeLessThan(1_100_000);
    expect(Object.keys(responses)).toEqual(expect.arrayContaining(['MissingProof', 'NotFound', 'RateLimited']));
    expect(Object.keys(headers)).toEqual(expect.arrayContaining(['PAYMENT-RESPONSE', 'x-svc-task-id']));
    expect(Object.keys(parameters)).toEqual(expect.arrayContaining(['path.agent_id', 'header.X-SVC-Session']));
  });

  it('describes a body at each response, unless it says that the body is empty', () => {
    for (const { path, operation } of operations)
      for (const [status, response] of Object.entries(operation.responses))
        expect(response.description.endsWith('The body is empty.'), `${path} ${status}`).toBe(!response.content);
    expect(paths['/v1/agents/{agent_id}/book']?.get?.responses).toMatchObject({
      401: { description: 'The proof of possession that this request requires is missing. The body is empty.' },
    });
    // A public document, which only a wrong session closes.
    const { responses = {} } = paths['/v1/sessions/{delegation_hash}']?.get ?? {};
    expect(Object.keys(responses)).not.toContain('401');
    expect(responses['403']).not.toHaveProperty('content');
  });

  it('says as parameters how a book is possessed, wherever that counts', () => {
    const ours = ['X-SVC-Session', 'X-SVC-Proof', 'X-SVC-Nonce'];
    const counts = new Map<string, readonly string[]>(
      everyDoor.flatMap(door => {
        const { methods, possession, price } = door;
        const shown = {
          required: ours,
          offered: ours,
          bound: ours,
          session: ours.slice(0, 1),
          none: price ? ours.slice(0, 1) : [],
        };
        const paths_of = [door.path, ...aliasesOf(door)];
        return paths_of.flatMap(path => methods.map(method => [`${method} ${path}`, shown[possession]] as const));
      }),
    );
    for (const { path, method, operation } of operations) {
      const told = operation.parameters.map(({ name }) => name).filter(name => ours.includes(name));
      expect(told, path).toEqual(counts.get(`${method} ${path}`));
    }
    const proof = paths['/v1/agents/{agent_id}/book']?.get?.parameters.find(({ name }) => name === 'X-SVC-Proof');
    expect(proof).toMatchObject({ schema: { pattern: '^sha256=[0-9a-f]{64}$' } });
    for (const formula of [
      '`<agent_id>.<window>`',
      'window = floor(unix seconds / 300)',
      '<METHOD>.<path>.<sha256 hex',
    ])
      expect(proof?.description).toContain(formula);
  });

  it('says at all that is paid for how one of several books is named, and what is answered where none is', () => {
    for (const { path, methods, price, errors } of everyDoor) {
      const { parameters, responses } = paths[path]?.[methods[0]?.toLowerCase() ?? ''] ?? {
        parameters: [],
        responses: {},
      };
      const told = parameters.some(({ name }) => name === 'X-SVC-Agent');
      const description = JSON.stringify(responses['400'] ?? {});
      // A free operation that must name one of several books has a member of its body for that.
      const wants = price !== null || errors.includes('book_not_named');
      expect([told, description.includes('book_not_named')], path).toEqual([price !== null, wants]);
    }
  });

  it('says what must be sent, and of nothing else that it must', () => {
    const required = (path: string) => paths[path]?.post?.requestBody?.required;
    expect(required('/v1/chat/completions')).toBe(true);
    expect(required('/v1/agents/{agent_id}/book')).toBe(false);
    // One of several requests, chosen by its action.
    expect(required('/v1/agents/{agent_id}/book/escrow')).toBe(true);
    expect(required('/v1/agents/{agent_id}/book/a2a-escrow')).toBe(true);
    // A generator takes a member with a default for one that is always present.
    expect(JSON.stringify(components.schemas).includes('"default":null')).toBe(false);
    const query = paths['/prove-result']?.get?.parameters.map(({ name, required }) => [name, required]);
    expect(query).toEqual([
      ['task_id', true],
      ['requested', false],
    ]);
  });
});

/** Schemas of the request and of the answers of an operation. */
function shapesOf({ requestBody, responses }: Operation): JsonObject[] {
  const bodies = [requestBody, ...Object.values(responses)] as ({ content?: JsonObject } | undefined)[];
  const contents = bodies.flatMap(body => Object.values(body?.content ?? {}));
  return contents.flatMap(media => (isJsonObject(media) && isJsonObject(media.schema) ? [media.schema] : []));
}

/** Every Schema Object of OpenAPI: members named `schema`, and the components. */
function schemasIn(value: unknown, at: string): { readonly schema: unknown; readonly pointer: string }[] {
  if (!isJsonObject(value) && !Array.isArray(value)) return [];
  return Object.entries(value).flatMap(([name, member]) => {
    const pointer = `${at}/${encodeURIComponent(name.replaceAll('~', '~0').replaceAll('/', '~1'))}`;
    const is_schema = name === 'schema' || at === '#/components/schemas';
    return is_schema ? [{ schema: member, pointer }] : schemasIn(member, pointer);
  });
}

it('Problem describes what an error says of its payment, of hubs and of waiting', () => {
  const { properties, required } = components.schemas.Problem ?? {};
  expect(Object.keys(isJsonObject(properties) ? properties : {})).toEqual(
    expect.arrayContaining(['charged', 'attempts', 'retry_after_seconds', 'hub_status']),
  );
  expect(required).not.toContain('charged');
});
