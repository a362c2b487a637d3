import { limits } from './limits.ts';

/* What of a JSON text is not seen in what it is parsed to: how deep and how large it is, and names that an object has twice. */

/** How deep a JSON text's objects and lists lie in each other, and how many members they have together. */
export interface JsonExtent {
  readonly depth: number;
  readonly members: number;
}

const BOUNDS: JsonExtent = { depth: limits.json_depth_max, members: limits.json_members_max };

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
/** What is at most this is white space, or no JSON. */
const SPACE = 0x20;
/** [ and {, ] and } differ from each other by one bit. */
const OPENS = 0x5b;
const CLOSES = 0x5d;
const BRACE_BIT = 0x20;

/**
 * Measures JSON in UTF-8 in one pass, without building anything: JSON.parse takes 80 times as long over a megabyte of
 * nested lists as over one of text. Exact for what is JSON (a member that is named twice counts twice), and for what is
 * none it ends as well. Stops at what exceeds `bounds`; null: within them.
 */
export function exceededBy(text: Uint8Array, bounds: JsonExtent = BOUNDS): keyof JsonExtent | null {
  let depth = 0;
  let members = 0;
  /** The innermost object or list has just begun: whatever comes next but its end is its first member. */
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

/** RFC 8259 section 7: what a backslash escapes ends no string. */
function endOfString(text: Uint8Array, from: number): number {
  let at = from + 1;
  while (at < text.length && text[at] !== QUOTE) at += text[at] === BACKSLASH ? 2 : 1;
  return at;
}

/**
 * Whether every object of a JSON text has each name once (I-JSON, RFC 7493 §2.3, which RFC 8785 §3.1 demands): of two members of one
 * name one reader takes the first and another the last. `value` is what the text was parsed to.
 */
export function namesEachOnce(text: Uint8Array, value: unknown): boolean {
  return membersWritten(text) === membersOf(value);
}

const COLON = 0x3a;

/** How many members its text names, at any depth: of text that is JSON each colon outside of a string belongs to one. */
function membersWritten(text: Uint8Array): number {
  let members = 0;
  for (let at = 0; at < text.length; at++) {
    if (text[at] === QUOTE) at = endOfString(text, at);
    else if (text[at] === COLON) members++;
  }
  return members;
}

/** How many of them a reader is left with. Without recursion: a stranger's document may be as deep as it is long. */
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

/** The first name that an object of a JSON text has twice, for whoever is to mend it; null where none has. */
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

/** Of a name that its sender has made up. */
const NAME_CHARS_SAID_MAX = 64;

/**
 * The member that one object of a JSON text names twice, as its refusal says it; null where each name stands once. `value` is what the
 * text was parsed to.
 */
export function repeatedMember(
  text: Uint8Array,
  value: unknown,
): { readonly param: string; readonly detail: string } | null {
  if (namesEachOnce(text, value)) return null;
  const param = (repeatedName(text) ?? '').slice(0, NAME_CHARS_SAID_MAX);
  return { param, detail: `${param}: this member is named twice in one object.` };
}
