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
  const text = plainText(value, DEPTH_MAX) ?? serialise(value);
  if (text === undefined) throw new TypeError('value has no canonical JSON form');
  return text;
}

/** Beyond this depth the library writes the value, because it does not use the call stack. */
const DEPTH_MAX = 100;
/** Printable ASCII without the quotation mark and the backslash, which JSON writes as it is. */
const UNESCAPED = /^[ !#-[\]-~]*$/;

/**
 * The canonical form in half the time of the library, for what nearly all values consist of: plain objects and lists, strings, finite
 * numbers, booleans and null. Null for a value that has another part, which is left to the library, also to refuse.
 */
function plainText(value: unknown, depth: number): string | null {
  switch (typeof value) {
    case 'string':
      return quoted(value);
    case 'number':
      return Number.isFinite(value) ? JSON.stringify(value) : null;
    case 'boolean':
      return value ? 'true' : 'false';
    case 'object':
      if (value === null) return 'null';
      if (depth === 0) return null;
      return Array.isArray(value) ? listText(value, depth - 1) : objectText(value, depth - 1);
    // Functions too, so that an object with a toJSON of its own is left to the library.
    default:
      return null;
  }
}

function quoted(text: string): string | null {
  if (UNESCAPED.test(text)) return `"${text}"`;
  return text.isWellFormed() ? JSON.stringify(text) : null;
}

function listText(list: readonly unknown[], depth: number): string | null {
  let text = '';
  for (let index = 0; index < list.length; index++) {
    const element = plainText(list[index], depth);
    if (element === null) return null;
    text += index === 0 ? element : `,${element}`;
  }
  return `[${text}]`;
}

function objectText(object: object, depth: number): string | null {
  const prototype = Object.getPrototypeOf(object);
  if (prototype !== Object.prototype && prototype !== null) return null;
  let text = '';
  for (const name of sorted(Object.keys(object))) {
    const member: unknown = (object as Record<string, unknown>)[name];
    if (member === undefined) continue;
    const key = quoted(name);
    const written = plainText(member, depth);
    if (key === null || written === null) return null;
    text += text === '' ? `${key}:${written}` : `,${key}:${written}`;
  }
  return `{${text}}`;
}

/** Sorts by UTF-16 code units (RFC 8785 section 3.2.3). Few names often are in order already, and to see that is cheaper. */
function sorted(names: string[]): readonly string[] {
  return names.every((name, index) => index === 0 || (names[index - 1] as string) < name) ? names : names.sort();
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
