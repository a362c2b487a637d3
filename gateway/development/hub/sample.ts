import { isJsonObject, type Json, type JsonObject } from '../../../schema/canonical-json.ts';

/** Maximum depth of a value, because a recursive schema would never end. */
const DEPTH_MAX = 16;

const formats: Readonly<Record<string, string>> = {
  date: '2026-01-01',
  time: '12:00:00Z',
  'date-time': '2026-01-01T12:00:00Z',
  email: 'dev@example.com',
  uri: 'https://example.com/',
  uuid: '00000000-0000-4000-8000-000000000000',
};

const byType: Readonly<Record<string, (schema: JsonObject, root: JsonObject, depth: number) => Json>> = {
  object: objectOf,
  array: arrayOf,
  string: textOf,
  integer: schema => Math.ceil(numberOf(schema)),
  number: numberOf,
  boolean: () => true,
  null: () => null,
};

/**
 * A value that fits a JSON Schema. The same schema always gets the same value: each object has only its required members, and each
 * list is as short as allowed. Patterns and rarer keywords are ignored.
 */
export function sampleOf(schema: Json | undefined, root: JsonObject = asObject(schema), depth = 0): Json {
  if (!isJsonObject(schema) || depth > DEPTH_MAX) return null;
  const { $ref, const: only, enum: allowed, anyOf, oneOf, allOf } = schema;
  if (typeof $ref === 'string') return sampleOf(resolvePointer($ref, root), root, depth + 1);
  if (only !== undefined) return only;
  if (Array.isArray(allowed) && allowed.length > 0) return allowed[0] as Json;
  const [choice] = [anyOf, oneOf].flatMap(choices => (Array.isArray(choices) ? (choices as Json[]) : []));
  if (choice !== undefined) return sampleOf(choice, root, depth + 1);
  if (Array.isArray(allOf)) return sampleOf(mergeSchemas(allOf as Json[], schema), root, depth + 1);
  return byType[typeOf(schema)]?.(schema, root, depth + 1) ?? null;
}

function typeOf({ type, properties }: JsonObject): string {
  const [first] = Array.isArray(type) ? type.filter(each => each !== 'null') : [type];
  return typeof first === 'string' ? first : properties ? 'object' : 'string';
}

function objectOf({ properties, required }: JsonObject, root: JsonObject, depth: number): Json {
  const shapes = asObject(properties);
  const names = Array.isArray(required) ? (required as Json[]).map(String) : [];
  return Object.fromEntries(names.map(name => [name, sampleOf(shapes[name] ?? {}, root, depth)]));
}

function arrayOf({ items, minItems }: JsonObject, root: JsonObject, depth: number): Json {
  const length = Math.min(typeof minItems === 'number' ? minItems : 0, 100);
  return Array.from({ length }, () => sampleOf(items ?? {}, root, depth));
}

function textOf({ format, minLength }: JsonObject): string {
  const text = formats[String(format)] ?? 'sample';
  return text.padEnd(typeof minLength === 'number' ? Math.min(minLength, 1_000) : 0, '.');
}

function numberOf({ minimum, exclusiveMinimum, maximum }: JsonObject): number {
  if (typeof minimum === 'number') return minimum;
  if (typeof exclusiveMinimum === 'number') return exclusiveMinimum + 1;
  return typeof maximum === 'number' ? Math.min(1, maximum) : 1;
}

function mergeSchemas(schemas: readonly Json[], { allOf: _, ...rest }: JsonObject): JsonObject {
  const all = [...schemas, rest].map(asObject);
  const required = all.flatMap(each => (Array.isArray(each.required) ? (each.required as Json[]) : []));
  const properties = Object.assign({}, ...all.map(each => asObject(each.properties))) as JsonObject;
  return { ...Object.assign({}, ...all), properties, required };
}

function resolvePointer(pointer: string, root: JsonObject): Json {
  const names = pointer.replace(/^#\/?/, '').split('/').filter(Boolean);
  return names.reduce<Json>((at, name) => asObject(at)[name] ?? null, root);
}

function asObject(value: Json | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}
