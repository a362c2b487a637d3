import { z } from 'zod';
import type { Json, JsonObject } from '../../../schema/canonical-json.ts';
import { Refusal } from '../../../schema/errors.ts';
import { limits } from '../../../schema/limits.ts';
import type { Door, DoorMethod } from '../../door.ts';
import { jsonSchema } from '../../door-schemas.ts';

/* Place of each argument of a tool in a request of its endpoint: path, query, body or header. */

/** Proof of possession for endpoints whose body has no member for it; see call-tool.ts. */
export const SESSION = 'session';
/** An HMAC by that session, in place of it. */
export const PROOF = 'proof';

export interface ArgumentPlace {
  /** Schema of a member by its name. */
  readonly shapes: JsonObject;
  readonly required: readonly string[];
}

export interface ArgumentPlaces {
  readonly path: ArgumentPlace;
  readonly query: ArgumentPlace;
  readonly body: ArgumentPlace;
  /** Headers for a session are arguments too, because a model cannot set headers. */
  readonly header: ArgumentPlace;
}

const nothing: ArgumentPlace = { shapes: {}, required: [] };

type Amend = Parameters<typeof jsonSchema>[2];

/**
 * The schema that OpenAPI has: a number in a path or query is a number.
 * @param amend may replace the schema of a part of a body
 */
export function placesOf(door: Door, amend?: Amend): ArgumentPlaces {
  const { params, query, body } = door.requests;
  const bodied = door.methods.some(method => method !== 'GET');
  const in_body = bodied ? placeOf(body, 'input', amend) : nothing;
  const by_header = door.possession !== 'none' && !(SESSION in in_body.shapes);
  return {
    path: textPlace(params),
    query: textPlace(query),
    body: in_body,
    header: by_header ? { shapes: { [SESSION]: sessionShape }, required: [] } : nothing,
  };
}

const sessionShape: JsonObject = {
  type: 'string',
  description: 'Session that opens the book. Default: the X-SVC-Session header.',
};

/** Members with a default are optional in the input. */
function textPlace(schema: z.ZodType): ArgumentPlace {
  return { shapes: placeOf(schema, 'output').shapes, required: placeOf(schema, 'input').required };
}

/**
 * For a union: all members, of which those are required that every alternative requires. The endpoint decides which alternative applies.
 */
function placeOf(schema: z.ZodType, io: 'input' | 'output', amend?: Amend): ArgumentPlace {
  const whole = jsonSchema(schema, io, amend) as z.core.JSONSchema.JSONSchema;
  const alternatives = (whole.anyOf ?? whole.oneOf ?? [whole]) as z.core.JSONSchema.JSONSchema[];
  const shapes: Record<string, Json> = {};
  for (const { properties = {} } of alternatives) {
    for (const [name, shape] of Object.entries(properties)) shapes[name] = mergeShapes(shapes[name], shape as Json);
  }
  const [first, ...others] = alternatives.map(({ required = [] }) => required);
  const required = (first ?? []).filter(name => others.every(other => other.includes(name)));
  return { shapes, required };
}

/** `action` has another value in each alternative. */
function mergeShapes(known: Json | undefined, shape: Json): Json {
  if (known === undefined || JSON.stringify(known) === JSON.stringify(shape)) return shape;
  const { anyOf } = known as { anyOf?: readonly Json[] };
  return { anyOf: [...(anyOf ?? [known]), shape] };
}

/** A request of an endpoint, without the headers of the message. */
export interface PlacedArguments {
  readonly method: DoorMethod;
  readonly params: Readonly<Record<string, string>>;
  readonly query: JsonObject;
  readonly body: JsonObject;
  /** Headers with the proof of possession. */
  readonly headers: Readonly<Record<string, string>>;
}

/** @throws Refusal if a path cannot contain the value */
export function placeArguments(door: Door, places: ArgumentPlaces, given: JsonObject): PlacedArguments {
  const method = methodFor(door, places, given);
  // An assignment would fail for an argument `__proto__`.
  const found: Record<keyof ArgumentPlaces, [string, Json][]> = { path: [], query: [], body: [], header: [] };
  for (const argument of Object.entries(given)) found[placeFor(places, method, argument[0])].push(argument);
  return {
    method,
    params: Object.fromEntries(found.path.map(([name, value]) => [name, segment(name, value)])),
    query: Object.fromEntries(found.query.map(([name, value]) => [name, asText(value)])),
    body: Object.fromEntries(found.body),
    headers: Object.fromEntries(found.header.map(([name, value]) => [headerOf[name], textIn(name, value)])),
  };
}

/** Unknown arguments are placed where the endpoint treats unknown members: refused by name, or ignored. */
function placeFor({ path, query, body }: ArgumentPlaces, method: DoorMethod, name: string): keyof ArgumentPlaces {
  const has = ({ shapes }: ArgumentPlace) => Object.hasOwn(shapes, name);
  if (has(path)) return 'path';
  if (method !== 'GET' && has(body)) return 'body';
  if (name === SESSION) return 'header';
  // A GET has no body, so its proof is in headers.
  if (method === 'GET' && has(body) && !has(query) && Object.hasOwn(headerOf, name)) return 'header';
  return method === 'GET' || has(query) ? 'query' : 'body';
}

/** An endpoint with both GET and POST is read unless an argument only exists in a body. */
function methodFor({ methods }: Door, { query, body }: ArgumentPlaces, given: JsonObject): DoorMethod {
  const [first = 'GET'] = methods;
  if (!methods.includes('GET')) return first;
  const has = ({ shapes }: ArgumentPlace, name: string) => Object.hasOwn(shapes, name);
  const writes = Object.keys(given).some(
    name => has(body, name) && !has(query, name) && !Object.hasOwn(headerOf, name),
  );
  return writes ? (methods.find(method => method !== 'GET') ?? first) : 'GET';
}

/** Proof of possession in a body; a GET has it in headers. */
const headerOf: Readonly<Record<string, string>> = { [SESSION]: 'x-svc-session', [PROOF]: 'x-svc-proof' };

function textIn(param: string, value: Json): string {
  if (typeof value === 'string') return value;
  throw new Refusal('invalid_request', { param, detail: `${param} must be a string.` });
}

function segment(name: string, value: Json): string {
  const text = asText(value);
  if (typeof text === 'string' && text.length > 0 && text.length <= limits.path_parameter_chars_max) return text;
  throw new Refusal('invalid_request', { param: name, detail: `${name} is empty or too long.` });
}

/** The value as text, as a path or query contains it. */
function asText(value: Json): Json {
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : value;
}
