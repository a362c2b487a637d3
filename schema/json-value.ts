import type { Json } from './canonical-json.ts';
import { limits } from './limits.ts';

/*
 * Checks JSON values of others before they are passed on: they must have a canonical form (RFC 8785), because payments and receipts are
 * bound to it, and a limited size, because they are traversed.
 */

export interface ValueBounds {
  readonly depth_max: number;
  readonly members_max: number;
}

/** Limits of a request body. */
const BODY_BOUNDS: ValueBounds = { depth_max: limits.json_depth_max, members_max: limits.json_members_max };

/** Why a value cannot be passed on unchanged. Null if it can. */
export function jsonFault(value: Json, bounds: ValueBounds = BODY_BOUNDS): string | null {
  const walk = new Walk(bounds);
  walk.through(value, 1);
  return walk.first_fault;
}

/** Replaces what has no canonical form: U+FFFD for a lone surrogate, and null for a number. Null if the values exceed the limits. */
export function mendedJson<V extends Json>(values: readonly V[], bounds: ValueBounds): readonly V[] | null {
  const walk = new Walk(bounds);
  for (const value of values) walk.through(value, 1);
  if (walk.exceeded) return null;
  return walk.first_fault === null ? values : values.map(value => mendValue(value) as V);
}

class Walk {
  /** Visits the value in the order in which it is written. */
  first_fault: string | null = null;
  exceeded = false;
  readonly #bounds: ValueBounds;
  #members = 0;

  constructor(bounds: ValueBounds) {
    this.#bounds = bounds;
  }

  /** Stops where a limit is exceeded. */
  through(value: Json, depth: number): void {
    this.first_fault ??= faultOf(value);
    if (typeof value !== 'object' || value === null || this.exceeded) return;
    const members = Object.entries(value);
    this.#members += members.length;
    const excess = this.#excessAt(depth);
    this.first_fault ??= excess;
    this.exceeded = excess !== null;
    if (this.exceeded) return;
    for (const [name, member] of members) {
      this.through(name, depth);
      this.through(member, depth + 1);
    }
  }

  #excessAt(depth: number): string | null {
    const { depth_max, members_max } = this.#bounds;
    if (depth > depth_max) return `is nested more than ${depth_max} levels deep`;
    return this.#members > members_max ? `has more than ${members_max} members` : null;
  }
}

/** Why a text or number has no canonical form. */
function faultOf(value: Json): string | null {
  if (typeof value === 'string') return value.isWellFormed() ? null : 'contains an unpaired surrogate';
  // JSON.parse reads 1e400 as Infinity, which has no canonical form.
  return typeof value !== 'number' || Number.isFinite(value)
    ? null
    : 'contains a number beyond the range of IEEE doubles';
}

/** The value is within limits, so the recursion ends. */
function mendValue(value: Json): Json {
  if (typeof value === 'string') return value.toWellFormed();
  if (typeof value === 'number') return Number.isFinite(value) ? value : null;
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(mendValue);
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name.toWellFormed(), mendValue(member)]));
}
