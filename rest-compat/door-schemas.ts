import { z } from 'zod';
import { isJsonObject, type Json, type JsonObject } from '../schema/canonical-json.ts';
import { nounMeta } from '../schema/noun.ts';
import type { Columns, Door } from './door.ts';

/** What a door takes and gives, as JSON Schema. */
export interface DoorSchemas {
  readonly input: JsonObject;
  readonly output: JsonObject;
  /** The same in short, as the `outputSchema` of x402 v1: each member's type, and what is said of it. */
  readonly in_short: JsonObject;
}

const made = new WeakMap<Columns, DoorSchemas>();

/** Made once per door: a 402 is answered thousands of times a second. */
export function schemasOf(door: Door): DoorSchemas {
  const known = made.get(door);
  if (known) return known;
  const input = jsonSchema(door.requests.body, 'input');
  const output = jsonSchema(door.response, 'output');
  const schemas = { input, output, in_short: shortened(door, input, output) };
  made.set(door, schemas);
  return schemas;
}

/** The whole of either would make a 402 of two networks ten times as long; it is in /.well-known/x402. */
function shortened({ methods, takes }: Door, input: JsonObject, output: JsonObject): JsonObject {
  const bodyType = takes === 'multipart/form-data' ? 'multipart-form-data' : 'json';
  const call = { type: 'http', method: methods[0] ?? '', discoverable: true, bodyType };
  return { input: { ...call, bodyFields: fieldsOf(input) }, output: fieldsOf(output) };
}

/** Of one that has several forms the first: it is what a call by these very members brings. */
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

/** Its types beside null, which says no more than that a member may be left out. One of several would be told as the only one. */
function typesOf({ type, anyOf }: JsonObject): readonly string[] {
  if (Array.isArray(anyOf)) return anyOf.flatMap(one => (isJsonObject(one) ? typesOf(one) : []));
  return [type ?? []].flat().filter(one => typeof one === 'string' && one !== 'null') as string[];
}

/**
 * A shape as JSON Schema 2020-12, without saying so: of a request as it is sent, or of an answer as it goes out.
 * @param amend may say of a part of it something else
 */
export function jsonSchema(
  shape: z.core.$ZodType,
  io: 'input' | 'output',
  amend: (part: z.core.$ZodType, made: PartSchema) => void = () => {},
): JsonObject {
  const { $schema: _, ...bare } = z.toJSONSchema(shape, {
    io,
    unrepresentable: 'any',
    override({ zodSchema: part, jsonSchema: made }) {
      // Where a member stands on the graph is nothing that its JSON says (schema/noun.ts).
      for (const name of nounMeta) delete made[name];
      spellTuple(made);
      spellAlternatives(made);
      amend(part, made);
    },
  });
  return bare as JsonObject;
}

export type PartSchema = z.core.JSONSchema.BaseSchema;

/** Alternatives of which one may leave out the type that tells them apart do not exclude each other by what linters can see. */
function spellAlternatives(made: PartSchema): void {
  const { oneOf } = made;
  if (!oneOf?.some(({ required = [], properties = {} }) => properties.type && !required.includes('type'))) return;
  made.anyOf = oneOf;
  delete made.oneOf;
}

/**
 * zod ends a tuple by `items: false`, which linters and generators of OpenAPI take for none, and spells an empty one as
 * `prefixItems: []`, which is no JSON Schema 2020-12 (10.3.1.1). `maxItems`, which it sets too, says the same alone.
 */
function spellTuple(made: PartSchema): void {
  if (made.items !== false || made.maxItems === undefined) return;
  made.items = {};
  if (made.prefixItems?.length === 0) delete made.prefixItems;
}
