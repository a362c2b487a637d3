import { limits } from './limits.ts';

/* Properties of a JSON text that its parsed value does not have: nesting, size, and names that occur twice in an object. */

/** Maximum nesting of objects and lists, and maximum number of members in all. */
export interface JsonExtent {
  readonly depth: number;
  readonly members: number;
}

const BOUNDS: JsonExtent = { depth: limits.json_depth_max, members: limits.json_members_max };

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
/** Bytes up to this one are white space, or not JSON. */
const SPACE = 0x20;
/** [ and {, and ] and }, differ in one bit. */
const OPENS = 0x5b;
const CLOSES = 0x5d;
const BRACE_BIT = 0x20;

/**
 * Measures JSON in UTF-8 in one pass without allocation: JSON.parse takes 80 times as long for a megabyte of nested lists as for text.
 * Exact for valid JSON (a name that occurs twice counts twice), and terminates for invalid JSON. Stops at the first exceeded bound. Null if
 * the text is within bounds.
 */
export function findExceededBound(text: Uint8Array, bounds: JsonExtent = BOUNDS): keyof JsonExtent | null {
  let depth = 0;
  let members = 0;
  /** The innermost object or list has just begun: anything but its end is its first member. */
  let fresh = false;
  for (let at = 0; at < text.length; at++) {
    const byte = text[at] as number;
    const bracket = byte & ~BRACE_BIT;
    if (bracket === CLOSES) {
      depth--;
      fresh = false;
      continue;
    }
    if (byte <= SPACE) continue;
    if ((fresh || byte === COMMA) && ++members > bounds.members) return 'members';
    fresh = bracket === OPENS;
    if (fresh && ++depth > bounds.depth) return 'depth';
    if (byte === QUOTE) at = endOfString(text, at);
  }
  return null;
}

/** A backslash escapes the next character, which cannot end the string (RFC 8259 section 7). */
function endOfString(text: Uint8Array, from: number): number {
  let at = from + 1;
  while (at < text.length && text[at] !== QUOTE) at += text[at] === BACKSLASH ? 2 : 1;
  return at;
}

/**
 * Whether every object of a JSON text has each name once (I-JSON, RFC 7493 §2.3, which RFC 8785 §3.1 requires). Otherwise some parsers use
 * the first member and others the last. `value`: the parsed text.
 */
export function namesEachOnce(text: Uint8Array, value: unknown): boolean {
  return membersWritten(text) === membersOf(value);
}

const COLON = 0x3a;

/** Number of names in the text at any depth: in valid JSON each colon outside of strings belongs to one. */
function membersWritten(text: Uint8Array): number {
  let members = 0;
  for (let at = 0; at < text.length; at++) {
    if (text[at] === QUOTE) at = endOfString(text, at);
    else if (text[at] === COLON) members++;
  }
  return members;
}

/** Number of members in the parsed value. Not recursive, because the document may be nested deeply. */
function membersOf(value: unknown): number {
  let members = 0;
  const open: unknown[] = [value];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (typeof next !== 'object' || next === null) continue;
    const inner = Object.values(next);
    if (!Array.isArray(next)) members += inner.length;
    for (const each of inner) if (typeof each === 'object') open.push(each);
  }
  return members;
}

/** The first name that an object of the text has twice. Null if there is none. */
export function repeatedName(text: Uint8Array): string | null {
  const names: Set<string>[] = [];
  for (let at = 0; at < text.length; at++) {
    const byte = text[at];
    if (byte === OPENS || byte === (OPENS | BRACE_BIT)) names.push(new Set());
    else if (byte === CLOSES || byte === (CLOSES | BRACE_BIT)) names.pop();
    if (byte !== QUOTE) continue;
    const end = endOfString(text, at);
    let next = end + 1;
    while (next < text.length && (text[next] as number) <= SPACE) next++;
    if (text[next] === COLON) {
      const name = String(JSON.parse(Buffer.from(text.subarray(at, end + 1)).toString()));
      const known = names.at(-1);
      if (known?.has(name)) return name;
      known?.add(name);
    }
    at = end;
  }
  return null;
}

/** Shortens a name that the sender has chosen. */
const NAME_CHARS_SAID_MAX = 64;

/** The repeated member of a JSON text, for the refusal. Null if there is none. `value`: the parsed text. */
export function repeatedMember(
  text: Uint8Array,
  value: unknown,
): { readonly param: string; readonly detail: string } | null {
  if (namesEachOnce(text, value)) return null;
  const param = (repeatedName(text) ?? '').slice(0, NAME_CHARS_SAID_MAX);
  return { param, detail: `${param}: this member is named twice in one object.` };
}
