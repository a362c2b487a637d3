import { beforeAll, describe, expect, it } from 'vitest';
import { everyDoor } from '../../rest-compat/every-door.ts';
import { openApi } from '../../rest-compat/faces/openapi.ts';
import { isJsonObject, type JsonObject } from '../../schema/canonical-json.ts';
import { type Service, sharedService } from '../harness/doors/open-service.ts';

let service: Service;
beforeAll(async () => {
  service = await sharedService();
});

describe('GET /openapi.json', () => {
  /** Every object anywhere in a document. */
  function* objectsIn(value: unknown): Generator<JsonObject> {
    if (Array.isArray(value)) for (const item of value) yield* objectsIn(item);
    if (!isJsonObject(value)) return;
    yield value;
    for (const member of Object.values(value)) yield* objectsIn(member);
  }

  interface Operation {
    readonly operationId: string;
    readonly security: readonly Readonly<Record<string, unknown>>[];
    readonly parameters: readonly { readonly in: string; readonly name: string; readonly required: boolean }[];
    readonly responses: Readonly<Record<string, { readonly description: string }>>;
  }
  interface Description {
    readonly openapi: string;
    readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
    readonly components: { readonly schemas: JsonObject; readonly securitySchemes: JsonObject };
  }
  const described = async () => (await service.get<Description>('/openapi.json')).body;
  const operationsOf = ({ paths }: Description) =>
    Object.entries(paths).flatMap(([path, item]) =>
      Object.entries(item).map(([method, operation]) => ({ path, method, ...operation })),
    );

  it('200: the door table as OpenAPI 3.1, version 1.0.0', async () => {
    const body = await described();
    expect(body).toEqual(JSON.parse(JSON.stringify(openApi(everyDoor, service.url))));
    expect(body).toMatchObject({ openapi: '3.1.0', info: { version: '1.0.0' }, servers: [{ url: service.url }] });
    const doors = everyDoor.flatMap(({ path, methods }) => methods.map(method => `${method} ${path}`));
    const operations = operationsOf(body);
    expect(operations.map(({ method, path }) => `${method.toUpperCase()} ${path}`).sort()).toEqual(doors.sort());
    expect(new Set(operations.map(({ operationId }) => operationId)).size).toBe(doors.length);
  });

  it('200: references resolve, path parameters are declared, every answer has a description', async () => {
    const body = await described();
    for (const { $ref } of objectsIn(body)) {
      if (typeof $ref === 'string') expect(body.components.schemas).toHaveProperty($ref.split('/').at(-1) ?? '');
    }
    for (const { path, security, parameters, responses } of operationsOf(body)) {
      const named = [...path.matchAll(/\{(\w+)\}/g)].map(match => match[1]);
      expect(parameters.filter(each => each.in === 'path' && each.required).map(({ name }) => name)).toEqual(named);
      for (const status of Object.keys(responses)) expect(status).toMatch(/^[2-5]\d\d$/);
      for (const { description } of Object.values(responses)) expect(description).not.toBe('');
      for (const name of security.flatMap(Object.keys)) expect(body.components.securitySchemes).toHaveProperty(name);
    }
  });

  it('200: lists are spelt as linters, validators and generators read them', async () => {
    const schemas = [...objectsIn(await described())];
    const lists = schemas.filter(({ type }) => type === 'array');
    expect(lists.filter(({ items }) => !isJsonObject(items))).toEqual([]);
    // JSON Schema 2020-12, 10.3.1.1: a non-empty array.
    expect(schemas.filter(({ prefixItems }) => Array.isArray(prefixItems) && prefixItems.length === 0)).toEqual([]);
  });
});
