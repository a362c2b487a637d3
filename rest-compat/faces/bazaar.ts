import type { JsonObject } from '../../schema/canonical-json.ts';
import type { Door } from '../door.ts';
import { jsonSchema, schemasOf } from '../door-schemas.ts';

/* The `bazaar` extension of x402 v2 (specs/extensions/bazaar.md): how a paid endpoint is called and what it returns. */

const JSON_SCHEMA = 'https://json-schema.org/draft/2020-12/schema';

/** With both complete schemas, for documents. Too long for a header. */
export function wholeBazaar(door: Door): JsonObject {
  const { input, output } = schemasOf(door);
  const called = callOf(door, door.example ?? {});
  const { type, method, bodyType } = called;
  const properties = {
    type: { const: type },
    method: { enum: [method] },
    bodyType: { enum: [bodyType] },
    body: input,
    ...(isTemplate(door) ? { pathParams: jsonSchema(door.requests.params, 'input') } : {}),
  };
  const required = ['type', 'method', 'bodyType', 'body'];
  return {
    info: { input: called, output: { type: 'json' } },
    ...templateOf(door),
    schema: {
      $schema: JSON_SCHEMA,
      type: 'object',
      properties: {
        input: { type: 'object', properties, required, additionalProperties: false },
        output: { type: 'object', properties: { type: { type: 'string' }, example: output }, required: ['type'] },
      },
      required: ['input'],
    },
  };
}

const bazaarsByDoor = new WeakMap<Door, readonly JsonObject[]>();

/** In several lengths for a header, the longest first. Made once per endpoint. */
export function briefBazaars(door: Door): readonly JsonObject[] {
  const known = bazaarsByDoor.get(door);
  if (known) return known;
  const bare = { info: { input: callOf(door, {}) }, schema: {} };
  const example = { info: { input: callOf(door, door.example ?? {}) }, schema: {} };
  const template = templateOf(door);
  const forms = [{ ...example, ...template }, { ...bare, ...template }, bare];
  bazaarsByDoor.set(door, forms);
  return forms;
}

function callOf({ methods, takes }: Door, body: JsonObject) {
  const bodyType = takes === 'multipart/form-data' ? 'form-data' : 'json';
  return { type: 'http', method: methods[0] ?? '', bodyType, body } as const;
}

const isTemplate = ({ path }: Door): boolean => path.includes('{');

/** With it a facilitator lists an endpoint once, whatever its path parameters. In the spelling of routers. */
function templateOf(door: Door): JsonObject {
  return isTemplate(door) ? { routeTemplate: door.path.replaceAll(/\{(\w+)\}/g, ':$1') } : {};
}
