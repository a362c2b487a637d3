import { isJsonObject, type Json, type JsonObject } from '../../../schema/canonical-json.ts';
import type { Door } from '../../door.ts';
import { jsonSchema } from '../../door-schemas.ts';

/*
 * What a tool answers, as JSON Schema. Members of members are told of by their types alone: a receipt in full at each paid tool would
 * make the list of tools twice as long, and each client compiles all of it. In full all shapes stand in /openapi.json.
 */
const DEPTH_MAX = 2;

/** The member in which a door's list stands: what a tool answers is an object. */
export const ITEMS = 'items';

/** What a tool answers that did not do what it was called for: an offer of x402, a problem (RFC 9457), or a signed refusal. */
const faults: readonly JsonObject[] = [
  { type: 'object', properties: { x402Version: { type: 'integer' } }, required: ['x402Version', 'accepts'] },
  { type: 'object', properties: { code: { type: 'string' } }, required: ['status', 'code'] },
  { type: 'object', properties: { refusal_code: { type: 'string' } }, required: ['schema', 'refusal_code'] },
];

/** Of another medium than JSON. */
const medium: JsonObject = {
  type: 'object',
  properties: { media_type: { type: 'string' }, text: { type: 'string' }, base64: { type: 'string' } },
  required: ['media_type'],
};

/** Faults stand among the alternatives: clients hold whatever is structured against it, errors included. */
export function outputSchema(door: Door): JsonObject {
  const other = door.other_media.length > 0 || !isJson(door.media);
  const good = isJson(door.media) ? [object(cut(jsonSchema(door.response, 'output'), DEPTH_MAX))] : [];
  return { type: 'object', anyOf: [...good, ...(other ? [medium] : []), ...faults] };
}

function object(shape: JsonObject): JsonObject {
  if (shape.type !== 'array') return shape;
  return { type: 'object', properties: { [ITEMS]: shape }, required: [ITEMS] };
}

export function isJson(media: string): boolean {
  return /^application\/([\w.-]+\+)?json\b/.test(media);
}

/** It says less, and nothing else: what is valid by the whole is valid by this. */
function cut(shape: Json, depth: number): JsonObject {
  if (!isJsonObject(shape)) return {};
  const { type, description } = shape;
  if (depth === 0) return { ...(type !== undefined && { type }), ...(description !== undefined && { description }) };
  return Object.fromEntries(Object.entries(shape).map(([name, part]) => [name, cutPart(name, part, depth)]));
}

function cutPart(name: string, part: Json, depth: number): Json {
  if (name === 'items') return cut(part, depth);
  if (name === 'properties' && isJsonObject(part)) {
    return Object.fromEntries(Object.entries(part).map(([member, shape]) => [member, cut(shape, depth - 1)]));
  }
  const several = ['anyOf', 'oneOf', 'allOf', 'prefixItems'].includes(name);
  return several && Array.isArray(part) ? part.map(one => cut(one, depth)) : part;
}
