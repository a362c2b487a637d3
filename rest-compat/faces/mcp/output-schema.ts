import { isJsonObject, type Json, type JsonObject } from '../../../schema/canonical-json.ts';
import type { Door } from '../../door.ts';
import { jsonSchema } from '../../door-schemas.ts';

/*
 * Output of a tool as JSON Schema. Nested members only have their types, because a full receipt for each paid tool would double the size of
 * the list, and each client compiles all of it. The full shapes are in /openapi.json.
 */
const DEPTH_MAX = 2;

/** The member that contains a list, because the output of a tool is an object. */
export const ITEMS = 'items';

/** Output of a tool that failed: an x402 offer, a problem (RFC 9457), or a signed refusal. */
const faults: readonly JsonObject[] = [
  { type: 'object', properties: { x402Version: { type: 'integer' } }, required: ['x402Version', 'accepts'] },
  { type: 'object', properties: { code: { type: 'string' } }, required: ['status', 'code'] },
  { type: 'object', properties: { refusal_code: { type: 'string' } }, required: ['schema', 'refusal_code'] },
];

/** Output in a media type other than JSON. */
const medium: JsonObject = {
  type: 'object',
  properties: { media_type: { type: 'string' }, text: { type: 'string' }, base64: { type: 'string' } },
  required: ['media_type'],
};

/** Errors are among the alternatives, because clients validate all structured content. */
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

/** A weaker schema: a value that is valid by the full one is valid by this one. */
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
