import { z } from 'zod';
import { isJsonObject, type Json, type JsonObject } from '../canonical-json.ts';
import { exceededBy, type JsonExtent } from '../json-bounds.ts';

/* An object of the caller's own, whose members nobody knows: it is kept and signed as it stands. */

interface ObjectBounds extends JsonExtent {
  readonly bytes: number;
}

/** One that can be kept and signed, within these bounds. */
export function freeObject(bounds: ObjectBounds) {
  return z.custom<JsonObject>(isJsonObject, { error: 'is not an object' }).superRefine((value, context) => {
    const fault = faultOf(value, bounds);
    if (fault !== null) context.addIssue({ code: 'custom', message: fault });
  });
}

/** Why an object cannot be kept and signed; null where it can. */
function faultOf(value: JsonObject, bounds: ObjectBounds): string | null {
  const text = Buffer.from(JSON.stringify(value));
  if (text.length > bounds.bytes) return `is longer than ${bounds.bytes} bytes`;
  const exceeded = exceededBy(text, bounds);
  if (exceeded !== null) return `exceeds a ${exceeded} of ${bounds[exceeded]}`;
  return isStorable(value) ? null : 'holds U+0000, an unpaired surrogate or a number beyond the range of IEEE doubles';
}

function isStorable(value: Json): boolean {
  if (typeof value === 'string') return value.isWellFormed() && !value.includes('\0');
  if (typeof value === 'number') return Number.isFinite(value);
  if (typeof value !== 'object' || value === null) return true;
  return Object.entries(value).every(([name, member]) => isStorable(name) && isStorable(member));
}
