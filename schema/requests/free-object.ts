import { z } from 'zod';
import { isJsonObject, type Json, type JsonObject } from '../canonical-json.ts';
import { findExceededBound, type JsonExtent } from '../json-bounds.ts';

/* A JSON object of the caller's choice, which is stored and signed unchanged. */

interface ObjectBounds extends JsonExtent {
  readonly bytes: number;
}

/** A JSON object within these bounds that has a canonical form (RFC 8785) and that Postgres can store. */
export function freeObject(bounds: ObjectBounds) {
  return z.custom<JsonObject>(isJsonObject, { error: 'is not an object' }).superRefine((value, context) => {
    const fault = faultOf(value, bounds);
    if (fault !== null) context.addIssue({ code: 'custom', message: fault });
  });
}

/** What is wrong with the object. Null if it can be stored and signed. */
function faultOf(value: JsonObject, bounds: ObjectBounds): string | null {
  const text = Buffer.from(JSON.stringify(value));
  if (text.length > bounds.bytes) return `is longer than ${bounds.bytes} bytes`;
  const exceeded = findExceededBound(text, bounds);
  if (exceeded === 'depth') return `is nested more than ${bounds.depth} levels deep`;
  if (exceeded === 'members') return `has more than ${bounds.members} members`;
  return isStorable(value)
    ? null
    : 'contains U+0000, an unpaired surrogate or a number beyond the range of IEEE doubles';
}

function isStorable(value: Json): boolean {
  if (typeof value === 'string') return value.isWellFormed() && !value.includes('\0');
  if (typeof value === 'number') return Number.isFinite(value);
  if (typeof value !== 'object' || value === null) return true;
  return Object.entries(value).every(([name, member]) => isStorable(name) && isStorable(member));
}
