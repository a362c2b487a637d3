import { z } from 'zod';
import { isJsonObject, type Json, type JsonObject } from '../canonical-json.ts';

interface ObjectBounds {
  readonly depth_max: number;
  readonly members_max: number;
}

/**
 * An object of the caller's own, handed on as it is: nothing in it is read, but all of it must have a canonical form
 * (RFC 8785), since the payment is bound to it, and be no larger than whoever walks it can bear.
 */
export function jsonObject(bounds: ObjectBounds) {
  return z
    .custom<JsonObject>(isJsonObject, { error: 'must be an object' })
    .superRefine((value, context) => {
      const fault = new Walk(bounds).faultIn(value, 1);
      if (fault) context.addIssue({ code: 'custom', message: fault });
    })
    .meta({ type: 'object' });
}

class Walk {
  readonly #bounds: ObjectBounds;
  #members = 0;

  constructor(bounds: ObjectBounds) {
    this.#bounds = bounds;
  }

  faultIn(value: Json, depth: number): string | null {
    if (typeof value === 'string') return value.isWellFormed() ? null : 'holds half of a surrogate pair';
    // What JSON spells 1e400 is parsed as Infinity, which has no spelling.
    if (typeof value === 'number') return Number.isFinite(value) ? null : 'holds a number beyond every other';
    if (typeof value !== 'object' || value === null) return null;
    const { depth_max, members_max } = this.#bounds;
    if (depth > depth_max) return `lies in itself more than ${depth_max} deep`;
    const members = Object.entries(value);
    this.#members += members.length;
    if (this.#members > members_max) return `has more than ${members_max} members`;
    for (const [name, member] of members) {
      const fault = this.faultIn(name, depth) ?? this.faultIn(member, depth + 1);
      if (fault) return fault;
    }
    return null;
  }
}
