import type { Json } from '../../canonical-json.ts';

interface ValueBounds {
  readonly depth_max: number;
  readonly members_max: number;
}

/**
 * Why a value of the caller's own cannot be passed on as it is; null where it can. All of it must have a canonical form (RFC 8785),
 * since the payment is bound to it, and it is no larger than whoever walks it can bear.
 */
export function jsonFault(value: Json, bounds: ValueBounds): string | null {
  return new Walk(bounds).faultIn(value, 1);
}

class Walk {
  readonly #bounds: ValueBounds;
  #members = 0;

  constructor(bounds: ValueBounds) {
    this.#bounds = bounds;
  }

  faultIn(value: Json, depth: number): string | null {
    if (typeof value === 'string') return value.isWellFormed() ? null : 'holds half of a surrogate pair';
    // What JSON spells 1e400 is parsed as Infinity, which has no spelling.
    if (typeof value === 'number') return Number.isFinite(value) ? null : 'holds a number beyond every other';
    if (typeof value !== 'object' || value === null) return null;
    const { depth_max, members_max } = this.#bounds;
    if (depth > depth_max) return `is nested more than ${depth_max} levels deep`;
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
