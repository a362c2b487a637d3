import { z } from 'zod';
import { isJsonObject, type Json, type JsonObject } from '../schema/canonical-json.ts';
import { nounMeta } from '../schema/noun.ts';
import { constantText } from '../schema/words.ts';
import type { Columns, Door } from './door.ts';

/** The request and the response of a door, as JSON Schema. */
export interface DoorSchemas {
  readonly input: JsonObject;
  readonly output: JsonObject;
  /** Both schemas in short, as the `outputSchema` of x402 v1: type and description of each member. */
  readonly in_short: JsonObject;
}

const made = new WeakMap<Columns, DoorSchemas>();

/** Made once per door, because a 402 is answered thousands of times a second. */
export function schemasOf(door: Door): DoorSchemas {
  const known = made.get(door);
  if (known) return known;
  const input = jsonSchema(door.requests.body, 'input');
  const output = jsonSchema(door.response, 'output');
  const schemas = { input, output, in_short: shortSchemas(door, input, output) };
  made.set(door, schemas);
  return schemas;
}

/** The full schemas would make a 402 for two networks ten times as long; they are in /.well-known/x402. */
function shortSchemas({ methods, takes }: Door, input: JsonObject, output: JsonObject): JsonObject {
  const bodyType = takes === 'multipart/form-data' ? 'multipart-form-data' : 'json';
  const call = { type: 'http', method: methods[0] ?? '', discoverable: true, bodyType };
  return { input: { ...call, bodyFields: fieldsOf(input) }, output: fieldsOf(output) };
}

/** Members of a shape. If it has several forms, those of the first, because a call with the listed members returns that form. */
function fieldsOf(shape: JsonObject): JsonObject {
  const { anyOf, properties, required } = shape;
  const [first] = Array.isArray(anyOf) ? anyOf : [];
  if (isJsonObject(first)) return fieldsOf(first);
  if (!isJsonObject(properties)) return {};
  const needed = Array.isArray(required) ? required : [];
  return Object.fromEntries(
    Object.entries(properties).map(([name, shape]) => [name, field(shape, needed.includes(name))]),
  );
}

function field(shape: Json | undefined, required: boolean): JsonObject {
  if (!isJsonObject(shape)) return {};
  const { description } = shape;
  const [type, ...others] = new Set(typesOf(shape));
  return {
    ...(type !== undefined && others.length === 0 ? { type } : {}),
    ...(required ? { required } : {}),
    ...(typeof description === 'string' ? { description } : {}),
  };
}

/** Types other than null. Null only states that the member may be left out. */
function typesOf({ type, anyOf }: JsonObject): readonly string[] {
  if (Array.isArray(anyOf)) return anyOf.flatMap(one => (isJsonObject(one) ? typesOf(one) : []));
  return [type ?? []].flat().filter(one => typeof one === 'string' && one !== 'null') as string[];
}

/**
 * JSON Schema 2020-12 of a shape, without `$schema`: of a request as a client sends it, or of a response as the service sends it.
 * @param amend may change the schema of a part
 */
export function jsonSchema(
  shape: z.core.$ZodType,
  io: 'input' | 'output',
  amend: (part: z.core.$ZodType, made: PartSchema) => void = () => {},
): JsonObject {
  const { $schema: _, ...bare } = z.toJSONSchema(shape, {
    io,
    unrepresentable: 'any',
    override({ zodSchema: part, jsonSchema }) {
      // Metadata for the graph is not part of a JSON Schema (schema/noun.ts).
      for (const name of nounMeta) delete jsonSchema[name];
      spellTuple(jsonSchema);
      describeConstants(jsonSchema);
      spellAlternatives(jsonSchema);
      amend(part, jsonSchema);
    },
  });
  return bare as JsonObject;
}

export type PartSchema = z.core.JSONSchema.BaseSchema;

/** If one alternative may leave out the `type` that distinguishes them, linters reject `oneOf`. */
function spellAlternatives(made: PartSchema): void {
  const { oneOf } = made;
  if (!oneOf?.some(({ required = [], properties = {} }) => properties.type && !required.includes('type'))) return;
  made.anyOf = oneOf;
  delete made.oneOf;
}

/** A member with one possible value says so, unless it has a description of its own. */
function describeConstants({ properties = {} }: PartSchema): void {
  for (const member of Object.values(properties)) {
    if (typeof member !== 'object' || member.const === undefined) continue;
    member.description ??= constantText(member.const);
  }
}

/**
 * zod ends a tuple with `items: false`, which linters and generators of OpenAPI do not understand, and writes an empty one as
 * `prefixItems: []`, which JSON Schema 2020-12 (10.3.1.1) forbids. `maxItems`, which zod sets too, is enough.
 */
function spellTuple(made: PartSchema): void {
  if (made.items !== false || made.maxItems === undefined) return;
  made.items = {};
  if (made.prefixItems?.length === 0) delete made.prefixItems;
}
