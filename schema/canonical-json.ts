import { hash } from 'node:crypto';
import serialise from 'canonicalize';

/** Values that can be hashed or signed. Amounts are strings, because RFC 8785 only has IEEE doubles. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };
export type JsonObject = { readonly [key: string]: Json };

/**
 * RFC 8785 (JCS): the only serializer for everything that is hashed or signed.
 * @throws if the value has no canonical form (undefined at the top, NaN, Infinity, bigint, a lone surrogate).
 */
export function canonicalJson(value: Json): string {
  const text = serialise(value);
  if (text === undefined) throw new TypeError('value has no canonical JSON form');
  return text;
}

/** A cached canonical form, so that a list of a million numbers is serialized once to be hashed, stored and sent. */
export class CanonicalText {
  readonly text: string;

  /** @param text the result of `canonicalJson` for the value */
  constructor(text: string) {
    this.text = text;
  }
}

/**
 * The canonical form of a list of numbers, eight times as fast: RFC 8785 3.2.2.3 writes them as ECMAScript does.
 * @throws if one of them has no canonical form
 */
export function canonicalNumbers(numbers: readonly number[]): string {
  if (!numbers.every(Number.isFinite)) throw new TypeError('not all of them are finite numbers');
  return JSON.stringify(numbers);
}

/** SHA-256 of the canonical form, as lower-case hex: the `payload_hash`, `row_hash` and request binding of this service. */
export function canonicalHash(value: Json | CanonicalText): string {
  return hash('sha256', value instanceof CanonicalText ? value.text : canonicalJson(value));
}

/** The same object without null and undefined members: a signed document leaves them out. */
export function present(members: Readonly<Record<string, Json | undefined>>): JsonObject {
  const kept: Record<string, Json> = {};
  for (const key of Object.keys(members)) {
    const value = members[key];
    if (value !== null && value !== undefined) kept[key] = value;
  }
  return kept;
}

/** An object, and neither null nor an array. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The object that a JSON text contains. Null if it contains anything else. */
export function jsonObjectIn(text: string): JsonObject | null {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : null;
  } catch {
    return null;
  }
}
